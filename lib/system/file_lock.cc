// A lock on a file by flock(2). The system releases the lock when the process that holds it ends.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <utility>

#include "groma/system.h"

namespace groma {
namespace {

// Returns true if it is safe to write to the file: it is regular and has only one name, so it is
// not a link to another file.
bool is_writable(int file) {
  struct stat status {};
  return fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink == 1;
}

// Returns the process id that the file contains, or 0 if there is none.
long holder_of(int file) {
  std::array<char, 32> text{};
  const ssize_t count = pread(file, text.data(), text.size(), 0);
  long process = 0;
  std::from_chars(text.data(), text.data() + std::max<ssize_t>(count, 0), process);
  return process;
}

}  // namespace

// Takes the lock without waiting. The file then contains our process id, for the messages of
// processes that find the lock taken.
Result<FileLock> FileLock::take(const std::string& path) {
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (file < 0) {
    return Error{Error::Code::kUnreadable,
                 fmt::format("cannot lock `{}`: {}", path, std::strerror(errno))};
  }
  FileLock lock(file);
  if (flock(file, LOCK_EX | LOCK_NB) == 0) {
    const std::string number = fmt::format("{}\n", getpid());
    // If our process id cannot be written, messages of other processes cannot name it. The lock is
    // valid anyway.
    const bool cleared = is_writable(file) && ftruncate(file, 0) == 0;
    if (cleared) static_cast<void>(!pwrite(file, number.data(), number.size(), 0));
    return lock;
  }
  const int code = errno;
  const long holder = holder_of(file);
  // Close the file without release(), which would empty it: the process id in it is not ours.
  close(std::exchange(lock.descriptor_, -1));
  if (code != EWOULDBLOCK) {
    return Error{Error::Code::kUnreadable,
                 fmt::format("cannot lock `{}`: {}", path, std::strerror(code))};
  }
  return Error{Error::Code::kUnreadable,
               holder > 0 ? fmt::format("process {} has the lock `{}`", holder, path)
                          : fmt::format("another process has the lock `{}`", path)};
}

// Tries a shared lock, which is released at once. O_NONBLOCK: the file may be a pipe.
bool FileLock::is_taken(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return false;
  const bool taken = flock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  close(file);
  return taken;
}

FileLock::FileLock(FileLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

FileLock& FileLock::operator=(FileLock&& other) noexcept {
  if (this == &other) return *this;
  release();
  descriptor_ = std::exchange(other.descriptor_, -1);
  return *this;
}

FileLock::~FileLock() { release(); }

void FileLock::release() {
  if (descriptor_ < 0) return;
  // The process id is removed from the file. Otherwise a process that finds the lock taken a moment
  // later would name our process.
  if (is_writable(descriptor_)) static_cast<void>(!ftruncate(descriptor_, 0));
  close(std::exchange(descriptor_, -1));
}

}  // namespace groma
