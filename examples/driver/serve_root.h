// The root of `groma serve`: the folder below which all files of a client's calls have to be. The
// paths that a client names are resolved, with their symbolic links, before a command gets them.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "groma/result.h"

namespace driver {

// Paths are resolved when a call begins. Somebody else who can replace files below the root by
// links while a call runs is not kept out.
class ServeRoot {
 public:
  // The folder must exist.
  static groma::Result<ServeRoot> make(const std::string& folder);

  // The next functions take a path that is relative to `from` (if empty, to the root) or absolute.
  // They return the path relative to the root, without links, in a form that no command takes for
  // an option, a list or standard input. They fail with kUnknown if nothing is there, with
  // kUnreadable if the path leads out of the root or to something else than is wanted.
  groma::Result<std::string> file(std::string_view path,
                                  const std::filesystem::path& from = {}) const;
  groma::Result<std::string> folder(std::string_view path,
                                    const std::filesystem::path& from = {}) const;
  // A file or folder that need not exist yet. Its folder must exist, and it must not be a link.
  groma::Result<std::string> new_path(std::string_view path) const;
  // What --machine and --app take: a name, or a file with its values. A text that can only be a
  // name is returned as it is, also if it is not known, because the command explains that better.
  groma::Result<std::string> machine(const std::string& spec,
                                     const std::filesystem::path& from = {}) const;
  groma::Result<std::string> application(const std::string& spec,
                                         const std::filesystem::path& from = {}) const;

  const std::filesystem::path& path() const { return root_; }

 private:
  explicit ServeRoot(std::filesystem::path root) : root_(std::move(root)) {}
  // Returns the resolved path, relative to the root. Fails if nothing is there.
  groma::Result<std::filesystem::path> inside(std::string_view path,
                                              const std::filesystem::path& from) const;

  // Absolute and without links.
  std::filesystem::path root_;
};

}  // namespace driver
