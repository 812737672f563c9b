// The directory of a search: a free name for a new one, and checks of a directory that already
// exists.
#include "groma/search_directory.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <string_view>
#include <vector>

#include "groma/harmless.h"
#include "groma/tune.h"

namespace groma::tuning {

namespace fs = std::filesystem;

// Takes the first of tune, tune.2, tune.3, ... that does not exist, and makes it. If the directory
// cannot be made, the caller reports the error when it uses the name.
std::string make_search_directory() {
  for (int i = 1;; ++i) {
    std::string name = i == 1 ? "tune" : fmt::format("tune.{}", i);
    if (mkdir(name.c_str(), 0777) == 0 || errno != EEXIST) return name;
  }
}

// A path that does not exist yet is valid, because a new search makes its directory.
std::optional<Error> not_a_directory(const std::string& path) {
  std::error_code ignored;
  if (!fs::exists(path, ignored) || fs::is_directory(path, ignored)) return std::nullopt;
  return Error{Error::Code::kUnreadable,
               fmt::format("`{}` is a file, not a directory", visible(path)),
               "a search is a directory of several files"};
}

// A link could make the search write elsewhere, so neither the files of a search nor its file
// `lock` nor its folder `front` may be one.
std::optional<Error> error_if_search_has_links(const std::string& directory) {
  std::vector<std::string> names(kSearchFiles.begin(), kSearchFiles.end());
  names.emplace_back("lock");
  names.emplace_back(kFrontFolder);
  for (const std::string& name : names) {
    std::error_code ignored;
    if (!fs::is_symlink(fs::path(directory) / name, ignored)) continue;
    return Error{Error::Code::kMalformed,
                 fmt::format("`{}` has a link for its `{}`", directory, name),
                 "put the file in its place, or remove it"};
  }
  return std::nullopt;
}

// A journal that ended within its first line may be replaced, because nothing is lost.
std::optional<Error> error_if_search_replaces(const std::string& directory) {
  for (const std::string_view name : kSearchFiles) {
    std::error_code code;
    if (!fs::exists(fs::path(directory) / name, code)) continue;
    if (name == "journal.jsonl" && holds_no_search_yet(directory)) continue;
    return Error{Error::Code::kUnreadable, fmt::format("`{}` has a file `{}`", directory, name),
                 "name another directory, or go on with the search that is there: --resume"};
  }
  // A search without `--pareto` does not write there, but it may be resumed with `--pareto`.
  std::error_code code;
  if (!fs::exists(fs::path(directory) / kFrontFolder, code)) return std::nullopt;
  return Error{Error::Code::kUnreadable,
               fmt::format("`{}` has a folder `{}`", directory, kFrontFolder),
               "name another directory, or go on with the search that is there: --resume"};
}

std::string mapping_file_content(const std::string& text) {
  return text.empty() ? "# No statement: the default mapper decides.\n" : text;
}

}  // namespace groma::tuning
