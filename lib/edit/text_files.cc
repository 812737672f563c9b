// Joins several files to one text, and splits such a text.
#include "groma/text_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>

#include "groma/harmless.h"
#include "groma/line_edits.h"

namespace groma {
namespace {

constexpr std::string_view kFileMark = "groma: file ";
constexpr std::size_t kMaxFileName = 64;

// Returns why a file cannot be added to `files`; nullopt if it can.
std::optional<Error> why_not_added(const std::vector<std::string_view>& names,
                                   std::string_view name) {
  if (names.size() == kMaxTextFiles) {
    return Error{Error::Code::kTooLarge,
                 fmt::format("there are more than {} files", kMaxTextFiles)};
  }
  if (std::find(names.begin(), names.end(), name) != names.end()) {
    return Error{Error::Code::kMalformed, fmt::format("two files are named `{}`", name),
                 "the files of a search lie in one folder there: give each another name"};
  }
  return std::nullopt;
}

}  // namespace

bool is_text_file_name(std::string_view name) {
  const auto valid = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '+' ||
           c == '-';
  };
  return !name.empty() && name.size() <= kMaxFileName && name.front() != '.' &&
         name.front() != '-' && std::all_of(name.begin(), name.end(), valid);
}

std::string_view file_name_in_line(std::string_view line) {
  if (!line.starts_with(kFileMark)) return {};
  line.remove_prefix(kFileMark.size());
  while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.remove_suffix(1);
  return is_text_file_name(line) ? line : std::string_view();
}

std::string line_before_file(std::string_view name) {
  return fmt::format("{}{}\n", kFileMark, name);
}

bool stands_for_files(std::string_view text) {
  return !file_name_in_line(text.substr(0, text.find('\n'))).empty();
}

Result<std::string> join_files(std::span<const NamedText> files) {
  std::string all;
  std::vector<std::string_view> names;
  for (const NamedText& file : files) {
    if (!is_text_file_name(file.name)) {
      return Error{Error::Code::kMalformed,
                   fmt::format("`{}` is not a name for a file of a search", harmless(file.name)),
                   "use up to 64 letters, digits and `_ . + -`"};
    }
    if (const auto error = why_not_added(names, file.name)) return *error;
    names.push_back(file.name);
    for (const std::string_view line : lines_of(file.text)) {
      if (file_name_in_line(line).empty()) continue;
      return Error{Error::Code::kMalformed,
                   fmt::format("`{}` has a line `{}`, with which a file begins", file.name,
                               harmless(line.substr(0, line.find_first_of("\r\n"))))};
    }
    all += line_before_file(file.name) + file.text;
    if (!file.text.empty() && file.text.back() != '\n') all += '\n';
  }
  return all;
}

std::string name_of_line(std::string_view text, std::size_t line) {
  std::string_view file;
  std::size_t begin = 0, number = 0;
  for (std::size_t at = 0; at < text.size() && number < line; ++number) {
    const std::size_t next = std::min(text.find('\n', at), text.size() - 1) + 1;
    const std::string_view name = file_name_in_line(text.substr(at, next - at));
    // Only the first line begins a text of several files.
    if (!name.empty() && (number == 0 || !file.empty())) {
      file = name;
      begin = number + 1;
    }
    at = next;
  }
  return file.empty() || line <= begin ? fmt::format("line {}", line)
                                       : fmt::format("{}:{}", file, line - begin);
}

Result<std::vector<NamedText>> split_files(std::string_view text) {
  std::vector<NamedText> files;
  if (!stands_for_files(text)) {
    files.push_back({"", std::string(text)});
    return files;
  }
  std::vector<std::string_view> names;
  // The beginning of the part of the text that belongs to the last file.
  std::size_t begin = 0, at = 0;
  const auto finish_file = [&] {
    if (!files.empty()) files.back().text = text.substr(begin, at - begin);
  };
  while (at < text.size()) {
    const std::size_t next = std::min(text.find('\n', at), text.size() - 1) + 1;
    const std::string_view name = file_name_in_line(text.substr(at, next - at));
    if (!name.empty()) {
      if (const auto error = why_not_added(names, name)) return *error;
      finish_file();
      names.push_back(name);
      files.push_back({std::string(name), ""});
      begin = next;
    }
    at = next;
  }
  finish_file();
  return files;
}

}  // namespace groma
