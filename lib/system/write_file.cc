// Replaces a file atomically: a new file is written beside the old one and then renamed.
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "groma/system.h"
#include "system/sync.h"

namespace groma {
namespace {

namespace fs = std::filesystem;

// The size in bytes of the buffer in which FileReplacement collects text before it writes to the
// file.
constexpr std::size_t kBuffered = std::size_t{1} << 16;
// A new file is named after the one that it will replace: `best.mapper.groma-k3v9x0`.
constexpr std::string_view kBesideMark = ".groma-";
constexpr std::string_view kBesideLetters = "abcdefghijklmnopqrstuvwxyz0123456789";
constexpr std::size_t kBesideCount = 6;
// The limit on the attempts to find a free name for a new file.
constexpr int kMostNames = 100;

// Blocks SIGINT, SIGTERM and SIGHUP, so that an interruption does not leave the new file beside the
// old one.
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

// Returns the path with all links resolved, or the path itself if that fails.
std::string resolved(const std::string& path) {
  char* real = realpath(path.c_str(), nullptr);
  if (real == nullptr) return path;
  std::string result = real;
  std::free(real);
  return result;
}

// Writes all of `text`, in several calls if necessary. On failure, errno says why.
bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

// Returns a random ending for a new file's name, or "" if the system has no random bytes.
std::string random_ending() {
  std::array<unsigned char, kBesideCount> bytes{};
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) return "";
  std::string ending(kBesideMark);
  for (const unsigned char byte : bytes) ending += kBesideLetters[byte % kBesideLetters.size()];
  return ending;
}

// Returns true if a file called `name` may be left over from an interrupted replacement of `of`.
bool is_left_over(std::string_view name, std::string_view of) {
  if (!name.starts_with(of)) return false;
  name.remove_prefix(of.size());
  if (!name.starts_with(kBesideMark)) return false;
  name.remove_prefix(kBesideMark.size());
  return name.size() == kBesideCount && name.find_first_not_of(kBesideLetters) == name.npos;
}

Error cannot_write(const std::string& path, int code) {
  return {Error::Code::kUnreadable,
          fmt::format("cannot write `{}`: {}", path, std::strerror(code))};
}

}  // namespace

FileReplacement::FileReplacement(std::string path) : path_(std::move(path)) { open(); }

// Creates the new file beside the old one, with the permissions of the old one.
void FileReplacement::open() {
  struct stat status {};
  const bool exists = lstat(path_.c_str(), &status) == 0;
  const bool keeps = exists && S_ISREG(status.st_mode);
  if (exists && S_ISDIR(status.st_mode)) return fail(EISDIR);
  if (keeps && access(path_.c_str(), W_OK) != 0) return fail(errno);
  // Permissions of the new file:
  //
  // * It belongs to our user, so it does not keep the set-uid, set-gid and sticky bits.
  // * For a new file, the system applies the umask. We do not ask for the umask because that means
  //   changing it, for all threads.
  // * If an old file's permissions are kept, nobody else may read the new file before they are set.
  const mode_t mode = keeps ? 0600 : 0666;
  for (int i = 0; i < kMostNames && file_ < 0; ++i) {
    const std::string ending = random_ending();
    if (ending.empty()) return fail(errno);
    beside_ = path_ + ending;
    file_ = ::open(beside_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    if (file_ < 0 && errno != EEXIST) return fail(errno);
  }
  if (file_ < 0) return fail(EEXIST);
  if (keeps && fchmod(file_, status.st_mode & 0777) != 0) fail(errno);
}

FileReplacement::~FileReplacement() {
  if (file_ < 0) return;
  close(file_);
  if (!placed_) unlink(beside_.c_str());
}

// Stores the errno of the first failure, which place() reports later. Ignores further failures.
void FileReplacement::fail(int code) {
  if (code_ == 0) code_ = code;
}

void FileReplacement::flush() {
  if (code_ == 0 && !write_all(file_, buffer_)) fail(errno);
  buffer_.clear();
}

// Appends the text to the new file through a buffer of kBuffered bytes. A text that is larger than
// the buffer is written directly.
void FileReplacement::write(std::string_view text) {
  if (buffer_.size() + text.size() > kBuffered) flush();
  if (text.size() <= kBuffered) {
    buffer_ += text;
  } else if (code_ == 0 && !write_all(file_, text)) {
    fail(errno);
  }
}

// Makes the content durable, puts it in place of the old file, and makes the name durable.
std::optional<Error> FileReplacement::place() {
  flush();
  if (code_ == 0 && fsync(file_) != 0) fail(errno);
  if (code_ == 0 && rename(beside_.c_str(), path_.c_str()) != 0) fail(errno);
  if (code_ != 0) return cannot_write(path_, code_);
  placed_ = true;
  const int code = system::sync_folder(fs::path(path_).parent_path());
  if (code != 0) return cannot_write(path_, code);
  return std::nullopt;
}

// Removes the files that interrupted replacements of `path` left behind.
void remove_unfinished_replacements(const std::string& path) {
  const fs::path file(path);
  std::error_code code;
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  for (fs::directory_iterator entry(folder, code), end; !code && entry != end;
       entry.increment(code)) {
    std::error_code ignored;
    const std::string name = entry->path().filename().string();
    const bool regular = entry->symlink_status(ignored).type() == fs::file_type::regular;
    if (regular && is_left_over(name, file.filename().string())) fs::remove(entry->path(), ignored);
  }
}

std::optional<Error> replace_file(const std::string& path, std::string_view text) {
  const HeldSignals held;
  FileReplacement file(path);
  file.write(text);
  return file.place();
}

// Replaces the content of a file. A link is followed, so that its target is replaced and not the
// link. A device or a pipe is written directly.
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
