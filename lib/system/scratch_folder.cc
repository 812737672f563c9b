// A temporary folder that is removed at the end, whatever it then contains.
#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <vector>

#include "system/process.h"

namespace groma {
namespace {

namespace fs = std::filesystem;

// The shell script that removes the folder if our process is killed. Processes that still run in
// the folder end at the same time, so up to nine attempts are made. Neither `rm` nor `find` follows
// links.
constexpr const char* kRemove =
    "cd /; for i in 1 2 3 4 5 6 7 8 9; do rm -rf -- \"$1\"; "
    "test -e \"$1\" || test -L \"$1\" || exit; "
    "find \"$1\" -type d -exec chmod u+rwx {} \\;; sleep 1; done";

// Removes a folder with its content. If that fails, the owner gets access to all folders inside,
// without following links, and the removal is tried again.
void remove(const std::string& path) {
  std::error_code code;
  fs::remove_all(path, code);
  if (!code) return;
  // The program that used the folder may have made folders that their owner cannot enter.
  std::vector<fs::path> folders = {path};
  while (!folders.empty()) {
    const fs::path folder = std::exchange(folders.back(), {});
    folders.pop_back();
    fs::permissions(folder, fs::perms::owner_all, fs::perm_options::add, code);
    for (fs::directory_iterator entry(folder, code), end; !code && entry != end;
         entry.increment(code)) {
      std::error_code ignored;
      if (entry->symlink_status(ignored).type() == fs::file_type::directory) {
        folders.push_back(entry->path());
      }
    }
  }
  fs::remove_all(path, code);
}

}  // namespace

struct ScratchFolder::Made {
  std::string path;
  system::CleanupShell watcher;
};

ScratchFolder::ScratchFolder(std::unique_ptr<Made> made) : made_(std::move(made)) {}
ScratchFolder::ScratchFolder(ScratchFolder&&) noexcept = default;
ScratchFolder& ScratchFolder::operator=(ScratchFolder&& other) noexcept {
  std::swap(made_, other.made_);
  return *this;
}
ScratchFolder::~ScratchFolder() {
  if (made_ != nullptr) remove(made_->path);
}

// Makes a folder in the system's temporary folder (/tmp if that is unknown) and starts its watcher.
Result<ScratchFolder> ScratchFolder::make() {
  std::error_code code;
  fs::path in = fs::temp_directory_path(code);
  if (!code) in = fs::absolute(in, code);
  std::string path = ((code ? fs::path("/tmp") : in) / "groma-XXXXXX").string();
  if (mkdtemp(path.data()) == nullptr) {
    return Error{Error::Code::kUnreadable,
                 fmt::format("cannot make a folder like `{}`: {}", path, std::strerror(errno))};
  }
  ScratchFolder folder(std::make_unique<Made>());
  folder.made_->path = std::move(path);
  if (auto error = folder.made_->watcher.start(kRemove, folder.path())) return *error;
  return folder;
}

const std::string& ScratchFolder::path() const { return made_->path; }

}  // namespace groma
