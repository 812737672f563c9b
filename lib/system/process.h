// How processes are started here, and one that outlives us.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>

#include "groma/system.h"

namespace groma::system {

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
  void reset();

 private:
  int descriptor_ = -1;
};

struct Pipe {
  File read, write;
};
// Its reader does not wait. False: errno says why not.
bool open_pipe(Pipe* made);

// 0, or why not. `group`: that it belongs to; 0: one of its own.
int spawn(const Command& command, int in, int out, int err, pid_t group, pid_t* child);

// A `/bin/sh` in a group of its own that does something when we end, however that is: it waits for
// the end of a pipe that only we can write. A child that was just made holds the pipe, too, until
// it has joined its group.
class Watcher {
 public:
  // `script` is what it does then, `$1` is `word`.
  std::optional<Error> start(const std::string& script, const std::string& word = "");
  Watcher() = default;
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;
  // Ends it, with its group, before it does anything.
  ~Watcher();
  pid_t group() const { return process_; }
  void end_group() const;

 private:
  File alive_;
  pid_t process_ = 0;
};

}  // namespace groma::system
