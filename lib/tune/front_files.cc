// FrontFiles: writes the texts of a Pareto front to files.
#include "tune/front_files.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

#include "groma/search_directory.h"
#include "groma/system.h"

namespace groma::tuning {
namespace {

namespace fs = std::filesystem;

// Returns the name of the file of a step.
std::string name_of(std::int64_t number, std::string_view suffix) {
  return fmt::format("{}/{}{}", kFrontFolder, number, suffix);
}

// Returns the beginning of `name` that has the form of a step's file, such as "17.mapper". Returns
// an empty text if there is none.
std::string_view step_file_in(std::string_view name, std::string_view suffix) {
  const std::size_t digits = std::min(name.find_first_not_of("0123456789"), name.size());
  if (digits == 0 || !name.substr(digits).starts_with(suffix)) return {};
  return name.substr(0, digits + suffix.size());
}

}  // namespace

// Makes the folder, and removes the files of steps that are not in the front, and temporary files
// that a killed process left. A link is an error, because it could lead to somebody else's files.
std::optional<Error> FrontFiles::open(std::span<const Step> steps) {
  const std::string folder = path_of(kFrontFolder);
  struct stat status {};
  const bool made = mkdir(folder.c_str(), 0777) == 0 || errno == EEXIST;
  if (!made || lstat(folder.c_str(), &status) != 0) {
    return Error{Error::Code::kUnreadable,
                 fmt::format("cannot make the directory `{}`: {}", folder, std::strerror(errno))};
  }
  if (!S_ISDIR(status.st_mode)) {
    return Error{Error::Code::kUnreadable, fmt::format("`{}` is not a directory", folder)};
  }
  std::vector<std::string> names;
  std::error_code code;
  for (fs::directory_iterator entry(folder, code), end; !code && entry != end;
       entry.increment(code)) {
    names.push_back(entry->path().filename().string());
  }
  for (const std::string& name : names) {
    const std::string file(step_file_in(name, suffix_));
    if (file.empty()) continue;
    const bool stays = std::any_of(steps.begin(), steps.end(), [&](const Step& step) {
      return name_of(step.number, suffix_) == fmt::format("{}/{}", kFrontFolder, file);
    });
    std::error_code ignored;
    const std::string path = folder + "/" + file;
    if (file != name) remove_unfinished_replacements(path);
    if (file == name && !stays && !fs::is_directory(path, ignored)) fs::remove(path, ignored);
  }
  is_open_ = true;
  return std::nullopt;
}

// Writes the new files before it removes the old ones, so that a killed process leaves too many
// files and not too few.
std::optional<Error> FrontFiles::replace(std::span<const Step> steps) {
  if (directory_.empty()) return std::nullopt;
  if (!is_open_) {
    if (auto error = open(steps)) return error;
  }
  std::map<std::int64_t, std::string> wanted;
  for (const Step& step : steps) wanted.emplace(step.number, step.proposal.text);
  for (const auto& [number, text] : wanted) {
    const auto old = written_.find(number);
    if (old != written_.end() && old->second == text) continue;
    if (auto error = replace_file(path_of(name_of(number, suffix_)), text)) return error;
  }
  for (const auto& [number, text] : written_) {
    std::error_code ignored;
    if (!wanted.contains(number)) fs::remove(path_of(name_of(number, suffix_)), ignored);
  }
  written_ = std::move(wanted);
  return std::nullopt;
}

}  // namespace groma::tuning
