// Starts processes, and a watcher process that outlives this one.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>

#include "groma/system.h"

namespace groma::system {

// Owns a file descriptor and closes it.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int descriptor) : descriptor_(descriptor) {}
  ~FileDescriptor() { reset(); }
  FileDescriptor(FileDescriptor&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    reset();
    descriptor_ = std::exchange(other.descriptor_, -1);
    return *this;
  }
  int get() const { return descriptor_; }
  // Closes the descriptor, if there is one.
  void reset();

 private:
  int descriptor_ = -1;
};

struct Pipe {
  FileDescriptor read, write;
};
// Opens a pipe whose reading end does not block. Returns false on failure; errno has the reason.
bool open_pipe(Pipe* made);

// Starts a process with these files as its standard input, output and error. Returns 0 or an errno.
// The process joins the process group `group`, or gets a new group if `group` is 0.
int spawn(const Command& command, int in, int out, int err, pid_t group, pid_t* child);

// A `/bin/sh` in its own process group that runs a script when this process ends, in whatever way.
// The shell waits for the end of a pipe that only this process can write to. A new child process
// also holds the pipe open until it has joined its process group.
class CleanupShell {
 public:
  // Starts the shell. It runs `script` when this process has ended. In the script, `$1` is `word`.
  std::optional<Error> start(const std::string& script, const std::string& word = "");
  CleanupShell() = default;
  CleanupShell(const CleanupShell&) = delete;
  CleanupShell& operator=(const CleanupShell&) = delete;
  // Kills the shell and all processes of its group, so that the script does not run.
  ~CleanupShell();
  // Returns the process group of the shell, which children may join.
  pid_t group() const { return process_; }
  // Kills all processes in the process group of the shell.
  void kill_process_group() const;

 private:
  FileDescriptor alive_;
  pid_t process_ = 0;
};

}  // namespace groma::system
