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

}  // namespace

std::optional<Error> write_file(const std::string& path, std::string_view text) {
  const HeldSignals held;
  const std::string target = resolved(path);
  const auto failure = [&path](int code) {
    return Error{Error::Code::kUnreadable,
                 fmt::format("cannot write `{}`: {}", path, std::strerror(code))};
  };
  struct stat status {};
  const bool exists = stat(target.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) return failure(EISDIR);
  if (exists && !S_ISREG(status.st_mode)) {
    // A device or a pipe has no content to keep.
    const int file = open(target.c_str(), O_WRONLY | O_CLOEXEC);
    if (file < 0) return failure(errno);
    const bool written = write_all(file, text) || errno == EINVAL || errno == EROFS;
    const int code = errno;
    close(file);
    if (!written) return failure(code);
    return std::nullopt;
  }
  if (exists && access(target.c_str(), W_OK) != 0) return failure(errno);
  std::string beside = target + ".XXXXXX";
  const int file = mkostemp(beside.data(), O_CLOEXEC);
  if (file < 0) return failure(errno);
  const mode_t mask = umask(0);
  umask(mask);
  const mode_t mode = exists ? status.st_mode & 07777 : 0666 & ~mask;
  const bool written = write_all(file, text) && fchmod(file, mode) == 0;
  const int code = errno;
  close(file);
  if (written && rename(beside.c_str(), target.c_str()) == 0) return std::nullopt;
  const int rename_code = written ? errno : code;
  unlink(beside.c_str());
  return failure(rename_code);
}

}  // namespace groma
