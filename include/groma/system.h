// The operating system: files that are written whole or not at all; locks; folders for a while;
// child processes with a deadline, which end with all that they started.
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

// Replaces the file's content: writes a new file beside it, with the old one's permissions except
// set-uid, set-gid and sticky (of a new file those that the umask leaves), renames it over the old
// one and writes the folder to the disk. The file has its old content or the new one at every
// moment, also after a power cut. A symbolic link is followed. Returns the failure, if there was
// one: then nothing has changed and nothing is left over. (The exception is a folder that cannot be
// written to the disk: the new file stays.)
[[nodiscard]] std::optional<Error> write_file(const std::string& path, std::string_view text);

// The same, but a symbolic link, a pipe or a device at the path itself is replaced, not written to:
// where others may have made what stands there.
[[nodiscard]] std::optional<Error> replace_file(const std::string& path, std::string_view text);

// Removes the new files that replacements of `path` left beside it when they were killed before
// they came to an end. The caller sees to it (by a lock) that nobody replaces the file meanwhile.
void remove_left_over(const std::string& path);

// The same as replace_file(), piece by piece: what is written takes the file's place with place(),
// and is dropped without it. Not thread-safe.
class ReplacedFile {
 public:
  explicit ReplacedFile(std::string path);
  ~ReplacedFile();
  ReplacedFile(const ReplacedFile&) = delete;
  ReplacedFile& operator=(const ReplacedFile&) = delete;

  void write(std::string_view text);
  // Once. Returns the first failure, if there was one, of the writes, too.
  [[nodiscard]] std::optional<Error> place();

 private:
  void open();
  void fail(int code);
  void flush();

  std::string path_, beside_, buffer_;
  int file_ = -1;
  int code_ = 0;  // errno of the first failure
  bool placed_ = false;
};

// A lock that one at a time has, of all processes and within this one. It ends with this object or
// with the process, however that ends; children do not inherit it.
class FileLock {
 public:
  // Makes the file where there is none. The file stays there and holds the number of the process
  // that has the lock. Nothing is written into a file that has a second name (a hard link), since
  // it may be somebody's file. Does not wait: fails (kUnreadable) where another process has the
  // lock, whose number the message gives if it is known, and where the file cannot be opened, is a
  // link, or the file system has no locks.
  static Result<FileLock> take(const std::string& path);
  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&& other) noexcept;
  ~FileLock();

 private:
  explicit FileLock(int descriptor) : descriptor_(descriptor) {}
  void release();
  int descriptor_ = -1;
};

// A new folder that nobody else may enter, `groma-XXXXXX` in that for temporary files (TMPDIR, else
// /tmp). It is removed with this object, with all that is in it, folders that were locked too; also
// when we end in between, be it by SIGKILL: a `/bin/sh` sees to that. No link is followed.
class ScratchFolder {
 public:
  // Fails (kUnreadable) where it cannot be made or `/bin/sh` not be run.
  static Result<ScratchFolder> make();
  ScratchFolder(ScratchFolder&&) noexcept;
  ScratchFolder& operator=(ScratchFolder&&) noexcept;
  ~ScratchFolder();
  const std::string& path() const;  // absolute

 private:
  struct Made;
  explicit ScratchFolder(std::unique_ptr<Made> made);
  std::unique_ptr<Made> made_;
};

// A process to run, in a process group of its own.
struct Command {
  std::vector<std::string> words;  // the program, looked for in PATH unless it has a `/`, and more
  std::string input = {};          // its standard input, at hand at once (a file in memory)
  std::string folder = {};         // where it runs; empty: where we are
  // "NAME=VALUE" sets, "NAME" takes away; the rest is our own environment.
  std::vector<std::string> environment = {};
  std::int64_t deadline_ms = 0;   // 0: none
  std::int64_t memory_bytes = 0;  // of each process's address space, in whole KB; 0: no bound
  // Of each output what is more than this is read and forgotten, from the middle.
  std::size_t max_output_bytes = std::size_t{16} << 20;
  bool end_at_max_output = false;  // more than this on the standard output ends the group
  // Asked every 50 ms, in the caller's thread; true ends the group.
  std::function<bool()> stop = {};
  // Hears all output as it comes, in the caller's thread; until it returns, the group may have to
  // wait with its next.
  std::function<void(std::string_view bytes, bool is_error)> on_output = {};
};

// The file that is run for a command's first word: the word itself if it has a `/`, else the first
// in PATH (/bin and /usr/bin without one) that is a file which we may run; none where there is
// none.
std::optional<std::string> find_program(const std::string& word);

struct CommandOutput {
  std::string text;
  std::size_t left_out_bytes = 0;  // forgotten between text[0, cut_at) and text[cut_at, end)
  std::size_t cut_at = 0;
};

struct CommandOutcome {
  enum class End { kExited, kSignalled, kDeadline, kStopped, kTooMuchOutput };
  End end = End::kExited;
  int code = 0;  // of the exit; the signal's number otherwise
  CommandOutput out, err;
  double seconds = 0;
};

// Runs it to its end, to its deadline, or until it is stopped. When it has ended, by itself or not,
// every process left in its group is killed, also when we end in between, be it by SIGKILL: a
// `/bin/sh`, the first of the group, sees to that. A program that daemonises (setsid) escapes.
// Fails where it cannot be started: kUnknown for no such program or folder, else kUnreadable, also
// where SIGCHLD is ignored, since the system then tells nobody how a child ended. With a bound on
// its memory a shell starts it: then no such program is an exit with 127, a refused one with 126.
// Any number of threads may run commands.
Result<CommandOutcome> run_command(const Command& command);

}  // namespace groma
