// System: wraps services of the operating system. It has files that are written completely or not
// at all, locks, temporary folders, and child processes with a deadline that end together with all
// processes they started.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "groma/result.h"

namespace groma {

// Replaces the content of a file. At every moment the file has its old content or the new one, also
// after a power failure. It writes a new file beside the old one, renames it over the old one and
// syncs the folder to the disk.
// The new file has the permissions of the old one without set-uid, set-gid and sticky. If there was
// no old file, it has the permissions that the umask leaves. A symbolic link is followed.
// Returns the error, if there was one. Then nothing has changed and no file is left over, with one
// exception: if the folder cannot be synced, the new file stays.
[[nodiscard]] std::optional<Error> write_file(const std::string& path, std::string_view text);

// Replaces the content of a file as write_file() does, but replaces a symbolic link, a pipe or a
// device at the path itself instead of writing to it. Use it where other people may have made the
// file.
[[nodiscard]] std::optional<Error> replace_file(const std::string& path, std::string_view text);

// Removes new files beside `path` that remain from replacements that were killed. The caller must
// ensure (by a lock) that nobody replaces the file meanwhile.
void remove_unfinished_replacements(const std::string& path);

// Replaces a file as replace_file() does, but with a text that is written piece by piece. place()
// puts the written text in the place of the file; without place() the text is dropped. Not
// thread-safe.
class FileReplacement {
 public:
  explicit FileReplacement(std::string path);
  ~FileReplacement();
  FileReplacement(const FileReplacement&) = delete;
  FileReplacement& operator=(const FileReplacement&) = delete;

  void write(std::string_view text);
  // Puts the written text in the place of the file. Call it at most once. Returns the first error,
  // if there was one, including errors of write().
  [[nodiscard]] std::optional<Error> place();

 private:
  void open();
  void fail(int code);
  void flush();

  std::string path_, beside_, buffer_;
  int file_ = -1;
  // The value of errno after the first failure.
  int code_ = 0;
  bool placed_ = false;
};

// An exclusive lock, between processes and within this one. It ends with this object or with the
// process, however the process ends. Child processes do not inherit it.
class FileLock {
 public:
  // Takes the lock. It creates the file if it does not exist. The file stays afterwards and holds
  // the id of the process that has the lock. Nothing is written into a file that has a second name
  // (a hard link), since it may belong to someone else.
  // Does not wait. Fails with kUnreadable if another process has the lock; the message gives the id
  // of that process if it is known. Also fails if the file cannot be opened or is a link, or if the
  // file system has no locks.
  static Result<FileLock> take(const std::string& path);
  // Returns true if a process has the lock. Does not create or change the file. Returns false if
  // the file is missing, cannot be read or is a link.
  static bool is_taken(const std::string& path);
  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&& other) noexcept;
  ~FileLock();

 private:
  explicit FileLock(int descriptor) : descriptor_(descriptor) {}
  void release();
  int descriptor_ = -1;
};

// A new folder `groma-XXXXXX` that only the user may enter, in the folder for temporary files
// (TMPDIR, else /tmp). It is removed with this object, together with everything in it, including
// locked folders. It is also removed if this process is killed, even by SIGKILL: a `/bin/sh` does
// that. No link is followed.
class ScratchFolder {
 public:
  // Makes the folder. Fails with kUnreadable if it cannot be made or `/bin/sh` cannot be run.
  static Result<ScratchFolder> make();
  ScratchFolder(ScratchFolder&&) noexcept;
  ScratchFolder& operator=(ScratchFolder&&) noexcept;
  ~ScratchFolder();
  // Returns the absolute path of the folder.
  const std::string& path() const;

 private:
  struct Made;
  explicit ScratchFolder(std::unique_ptr<Made> made);
  std::unique_ptr<Made> made_;
};

// A process to run, in its own process group.
struct Command {
  // The program and its arguments; the program is searched in PATH unless it has a `/`.
  std::vector<std::string> words;
  // The standard input, which is available at once (a file in memory).
  std::string input = {};
  // The working folder. If it is empty, the current folder is used.
  std::string folder = {};
  // "NAME=VALUE" sets a variable, "NAME" removes one. All others are those of this process.
  std::vector<std::string> environment = {};
  // The time after which the group is ended. 0 stands for no deadline.
  std::int64_t deadline_ms = 0;
  // If above 0: at the deadline, or when `stop` says so, the program first gets SIGINT, as after
  // Ctrl-C, and has this long to end by itself before the group is killed.
  std::int64_t farewell_ms = 0;
  // Limit on the address space of each process, in whole KB; 0: no limit.
  std::int64_t memory_bytes = 0;
  // Limit on what is kept of each output. Output beyond it is read and dropped from the middle.
  std::size_t max_output_bytes = std::size_t{16} << 20;
  // True if the group ends when a process writes more than max_output_bytes to standard output.
  bool end_at_max_output = false;
  // A function that is called every 50 ms, in the caller's thread. If it returns true, the process
  // group is ended.
  std::function<bool()> stop = {};
  // Receives all output as it comes, in the caller's thread. The group may have to wait with
  // further output until it returns.
  std::function<void(std::string_view bytes, bool is_error)> on_output = {};
};

// Returns the file that is run for the first word of a command. It is the word itself if it has a
// `/`. Otherwise it is the first executable file of that name in PATH (/bin and /usr/bin if PATH is
// not set). nullopt if there is none.
std::optional<std::string> find_program(const std::string& word);

// The part of one output of a command that was kept.
struct CommandOutput {
  std::string text;
  // The number of bytes that were dropped between text[0, cut_at) and text[cut_at, end).
  std::size_t left_out_bytes = 0;
  std::size_t cut_at = 0;
};

// The result of a command: the way in which it ended, and its output.
struct CommandOutcome {
  enum class End { kExited, kSignalled, kDeadline, kStopped, kTooMuchOutput };
  End end = End::kExited;
  // The exit code, or the number of the signal.
  int code = 0;
  CommandOutput out, err;
  double seconds = 0;
  // Returns true if the program ended by itself with exit code 0.
  bool ended_well() const { return end == End::kExited && code == 0; }
};

// Runs the command until it ends, its deadline passes or it is stopped. Then every process that is
// left in its group is killed. The processes are also killed if this process is killed, even by
// SIGKILL: a `/bin/sh`, the first process of the group, does that. A program that daemonises
// (setsid) escapes.
// Fails if the command cannot be started: kUnknown for an unknown program or folder, otherwise
// kUnreadable. Also fails if SIGCHLD is ignored, since the system then does not report how a child
// ended. With a memory limit a shell starts the program; an unknown program then exits with 127 and
// a refused one with 126. Any number of threads may run commands.
Result<CommandOutcome> run_command(const Command& command);

}  // namespace groma
