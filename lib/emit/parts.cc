// Provides the fixed text of an emitted mapper. The text comes from source files of Groma itself,
// each cut down to the blocks that the mapping needs.
#include "emit/parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "emit/part_files.h"
#include "groma/result.h"

namespace groma::emitting {
namespace {

// The names of standard headers that are also names of types. Such a header is included only if the
// emitted code uses its type.
constexpr std::array kTypes = {"array", "map", "mutex", "optional", "set", "span", "variant"};

// Returns the line without the spaces at its beginning.
std::string_view trimmed(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  return line;
}

// Replaces every occurrence of `from` in the text.
void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

// Returns the text of a file without the comment at its beginning, which describes the file in
// Groma's own source tree.
std::string_view without_head(std::string_view text) {
  const std::size_t once = text.find("#pragma once");
  const std::size_t include = text.find("#include");
  return text.substr(std::min(once, include));
}

// Returns true if the line opens or closes Groma's own namespace.
bool opens_or_closes_ours(std::string_view line) {
  return line.starts_with("namespace groma") || line.starts_with("}  // namespace groma");
}

// Returns true if the line is a preprocessor directive that emitted code does not repeat.
// Conditions on Legion's version stay. Includes are collected elsewhere, and `#pragma once` has no
// meaning in an emitted file.
bool stays_out(std::string_view line) {
  return line.starts_with('#') && !line.starts_with("#if ") && !line.starts_with("#else") &&
         !line.starts_with("#endif");
}

}  // namespace

// Returns true if the condition of an optional block holds: "a || !b" holds if feature a is needed
// or b is not.
bool EmittedCodeTemplates::is_needed(std::string_view condition) const {
  while (!condition.empty()) {
    const std::size_t end = std::min(condition.find(" || "), condition.size());
    const std::string_view word = condition.substr(0, end);
    const bool absent = word.starts_with('!');
    if (features_.contains(word.substr(absent ? 1 : 0)) != absent) return true;
    condition.remove_prefix(std::min(end + 4, condition.size()));
  }
  return false;
}

// Returns the text of a template file for the emitted mapper. Leaves out the blocks that this
// mapper does not need and the assertions that check Groma's own code, replaces the placeholders of
// names, and moves the `#include` lines to the list of all includes.
std::string EmittedCodeTemplates::part_text(std::string_view file) {
  const auto files = part_files();
  const auto found = std::find_if(files.begin(), files.end(),
                                  [file](const PartFile& part) { return part.name == file; });
  GROMA_CHECK(found != files.end());
  std::string made;
  // For each open `// @if` block of the part's text: true if the emitted program needs the block
  // and all blocks around it.
  std::vector<bool> blocks;
  // True if the last line was blank. Two blank lines never follow each other.
  bool blank = true;
  std::string_view rest = without_head(found->text);
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const std::string_view word = trimmed(line);
    const bool inside = blocks.empty() || blocks.back();
    if (word.starts_with("// @if ")) {
      blocks.push_back(inside && is_needed(word.substr(7)));
    } else if (word == "// @end") {
      blocks.pop_back();
    } else if (line.starts_with("#include <")) {
      auto& list = line.find(".h>") == std::string_view::npos ? includes_ : legion_includes_;
      list.emplace(line);
    } else if (!inside || stays_out(line) || opens_or_closes_ours(line) ||
               word.find("GROMA_CHECK(") != std::string_view::npos) {
      continue;
    } else if (!word.empty() || !blank) {
      made.append(line) += '\n';
      blank = word.empty();
    }
  }
  for (const std::string_view ours : {"groma::mapper::", "groma::emit::"}) {
    replace_all(made, ours, space_ + "::");
  }
  if (features_.contains("conditions")) {
    // What depends on the machine is decided by the object that knows the machine.
    for (const std::string_view decision :
         {"kinds_of", "memories_of", "layout_of", "collects", "index_function", "single_function",
          "limit_of", "limit_scope_of", "limit_statement_of", "replicates", "steal_of",
          "steals_from"}) {
      replace_all(made, fmt::format("Mapping::{}(", decision),
                  fmt::format("shared_->mapping.{}(", decision));
    }
  }
  replace_all(made, "MAPPER_CLASS", mapper_);
  while (made.ends_with("\n\n")) made.pop_back();
  return made;
}

// Returns the collected include lines: Legion's first, then those of the standard library that
// `body` uses.
std::string EmittedCodeTemplates::include_lines(std::string_view body) const {
  std::string made;
  for (const std::string& line : legion_includes_) made += line + "\n";
  if (!made.empty() && !includes_.empty()) made += "\n";
  for (const std::string& line : includes_) {
    const std::size_t from = line.find('<') + 1;
    const std::string name = line.substr(from, line.find('>') - from);
    const bool is_type = std::find(kTypes.begin(), kTypes.end(), name) != kTypes.end();
    if (is_type && body.find("std::" + name) == std::string_view::npos) continue;
    made += line + "\n";
  }
  return made;
}

}  // namespace groma::emitting
