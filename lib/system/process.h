// Starts processes, and a watcher process that outlives this one.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>

#include "groma/system.h"

namespace groma::system {

// Owns a file descriptor and closes it.
class File {
 public:
  File() = default;
  explicit File(int descriptor) : descriptor_(descriptor) {}
  ~File() { reset(); }
  File(File&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  File& operator=(File&& other) noexcept {
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
  File read, write;
};
// Opens a pipe whose reading end does not block. Returns false on failure; errno has the reason.
bool open_pipe(Pipe* made);

// Starts a process with these files as its standard input, output and error. Returns 0 or an errno.
// The process joins the process group `group`, or gets a new group if `group` is 0.
int spawn(const Command& command, int in, int out, int err, pid_t group, pid_t* child);

// A `/bin/sh` in its own process group that runs a script when this process ends, in whatever way.
// The shell waits for the end of a pipe that only this process can write to. A new child process
// also holds the pipe open until it has joined its process group.
class Watcher {
 public:
  // Starts the shell. It runs `script` when this process has ended. In the script, `$1` is `word`.
  std::optional<Error> start(const std::string& script, const std::string& word = "");
  Watcher() = default;
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;
  // Kills the shell and all processes of its group, so that the script does not run.
  ~Watcher();
  // Returns the process group of the shell, which children may join.
  pid_t group() const { return process_; }
  // Kills all processes in the process group of the shell.
  void end_group() const;

 private:
  File alive_;
  pid_t process_ = 0;
};

}  // namespace groma::system
