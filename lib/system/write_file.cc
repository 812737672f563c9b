// Atomic replacement of a file.
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "groma/system.h"

namespace groma {
namespace {

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
  return fsync(file) == 0;
}

Error cannot_write(const std::string& path, int code) {
  return {Error::Code::kUnreadable,
          fmt::format("cannot write `{}`: {}", path, std::strerror(code))};
}

// By a new file beside the target, which is what `path` means.
std::optional<Error> write_beside(const std::string& path, const std::string& target,
                                  std::optional<mode_t> mode, std::string_view text) {
  std::string beside = target + ".XXXXXX";
  const int file = mkostemp(beside.data(), O_CLOEXEC);
  if (file < 0) return cannot_write(path, errno);
  const mode_t mask = umask(0);
  umask(mask);
  const bool written = write_all(file, text) && fchmod(file, mode.value_or(0666 & ~mask)) == 0;
  const int code = errno;
  close(file);
  if (written && rename(beside.c_str(), target.c_str()) == 0) return std::nullopt;
  const int rename_code = written ? errno : code;
  unlink(beside.c_str());
  return cannot_write(path, rename_code);
}

}  // namespace

std::optional<Error> write_file(const std::string& path, std::string_view text) {
  const HeldSignals held;
  const std::string target = resolved(path);
  struct stat status {};
  if (stat(target.c_str(), &status) != 0) return write_beside(path, target, std::nullopt, text);
  if (S_ISDIR(status.st_mode)) return cannot_write(path, EISDIR);
  if (!S_ISREG(status.st_mode)) {
    // A device or a pipe has no content to keep.
    const int file = open(target.c_str(), O_WRONLY | O_CLOEXEC);
    if (file < 0) return cannot_write(path, errno);
    const bool written = write_all(file, text) || errno == EINVAL || errno == EROFS;
    const int code = errno;
    close(file);
    if (!written) return cannot_write(path, code);
    return std::nullopt;
  }
  if (access(target.c_str(), W_OK) != 0) return cannot_write(path, errno);
  return write_beside(path, target, status.st_mode & 07777, text);
}

std::optional<Error> replace_file(const std::string& path, std::string_view text) {
  const HeldSignals held;
  struct stat status {};
  const bool exists = lstat(path.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) return cannot_write(path, EISDIR);
  const bool keeps = exists && S_ISREG(status.st_mode);
  if (keeps && access(path.c_str(), W_OK) != 0) return cannot_write(path, errno);
  return write_beside(path, path, keeps ? std::optional(status.st_mode & 07777) : std::nullopt,
                      text);
}

}  // namespace groma
