// Atomic replacement of a file.
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "groma/system.h"

namespace groma {
namespace {

constexpr std::size_t kBuffered = std::size_t{1} << 16;  // bytes

// Holds Ctrl-C back, so that it cannot leave the new file lying beside the old one.
class HeldSignals {
 public:
  HeldSignals() {
    sigset_t held;
    sigemptyset(&held);
    for (int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&held, signal);
    pthread_sigmask(SIG_BLOCK, &held, &before_);
  }
  ~HeldSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

 private:
  sigset_t before_;
};

std::string resolved(const std::string& path) {
  char* real = realpath(path.c_str(), nullptr);
  if (real == nullptr) return path;
  std::string result = real;
  std::free(real);
  return result;
}

bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

Error cannot_write(const std::string& path, int code) {
  return {Error::Code::kUnreadable,
          fmt::format("cannot write `{}`: {}", path, std::strerror(code))};
}

}  // namespace

ReplacedFile::ReplacedFile(std::string path) : path_(std::move(path)), beside_(path_ + ".XXXXXX") {
  open();
}

void ReplacedFile::open() {
  struct stat status {};
  const bool exists = lstat(path_.c_str(), &status) == 0;
  const bool keeps = exists && S_ISREG(status.st_mode);
  if (exists && S_ISDIR(status.st_mode)) return fail(EISDIR);
  if (keeps && access(path_.c_str(), W_OK) != 0) return fail(errno);
  file_ = mkostemp(beside_.data(), O_CLOEXEC);
  if (file_ < 0) return fail(errno);
  const mode_t mask = umask(0);
  umask(mask);
  if (fchmod(file_, keeps ? status.st_mode & 07777 : 0666 & ~mask) != 0) fail(errno);
}

ReplacedFile::~ReplacedFile() {
  if (file_ < 0) return;
  close(file_);
  if (!placed_) unlink(beside_.c_str());
}

void ReplacedFile::fail(int code) {
  if (code_ == 0) code_ = code;
}

void ReplacedFile::flush() {
  if (code_ == 0 && !write_all(file_, buffer_)) fail(errno);
  buffer_.clear();
}

void ReplacedFile::write(std::string_view text) {
  if (buffer_.size() + text.size() > kBuffered) flush();
  if (text.size() <= kBuffered) {
    buffer_ += text;
  } else if (code_ == 0 && !write_all(file_, text)) {
    fail(errno);
  }
}

std::optional<Error> ReplacedFile::place() {
  flush();
  if (code_ == 0 && fsync(file_) != 0) fail(errno);
  if (code_ == 0 && rename(beside_.c_str(), path_.c_str()) != 0) fail(errno);
  if (code_ != 0) return cannot_write(path_, code_);
  placed_ = true;
  return std::nullopt;
}

std::optional<Error> replace_file(const std::string& path, std::string_view text) {
  const HeldSignals held;
  ReplacedFile file(path);
  file.write(text);
  return file.place();
}

std::optional<Error> write_file(const std::string& path, std::string_view text) {
  struct stat status {};
  if (lstat(path.c_str(), &status) != 0) return replace_file(path, text);
  const std::string target = S_ISLNK(status.st_mode) ? resolved(path) : path;
  const bool exists = stat(target.c_str(), &status) == 0;
  if (!exists || S_ISREG(status.st_mode) || S_ISDIR(status.st_mode)) {
    return replace_file(target, text);
  }
  // A device or a pipe has no content to keep.
  const int file = ::open(target.c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0) return cannot_write(path, errno);
  const bool written = write_all(file, text);
  const int code = errno;
  close(file);
  if (!written) return cannot_write(path, code);
  return std::nullopt;
}

}  // namespace groma
