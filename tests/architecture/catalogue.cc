#include "architecture/catalogue.h"

#include <regex>
#include <set>

namespace groma::architecture {
namespace {

namespace fs = std::filesystem;

struct Entry {
  std::string enumerator;
  std::string id;
};

std::vector<Entry> entries_of(const std::string& catalogue) {
  static const std::regex kEntry(R"re(\n\s*GROMA_DIAGNOSTIC\(\s*(\w+)\s*,\s*"([^"]*)")re");
  std::vector<Entry> entries;
  const std::string text = "\n" + catalogue;
  for (std::sregex_iterator at(text.begin(), text.end(), kEntry), end; at != end; ++at) {
    entries.push_back({(*at)[1], (*at)[2]});
  }
  return entries;
}

std::string all_text(const fs::path& root, const std::vector<const char*>& folders) {
  std::string text;
  for (const char* folder : folders) {
    for (const fs::path& file : files_below(root / folder)) text += read_text(file) + "\n";
  }
  return text;
}

// Every name that follows `prefix` in the text: one pass, however many names there are.
std::set<std::string> names_after(const std::string& text, std::string_view prefix,
                                  std::string_view name_characters) {
  std::set<std::string> names;
  for (std::size_t at = 0; (at = text.find(prefix, at)) != std::string::npos;) {
    at += prefix.size();
    const std::size_t end = text.find_first_not_of(name_characters, at);
    names.insert(text.substr(at, end - at));
  }
  return names;
}

constexpr std::string_view kWord =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
constexpr std::string_view kId = "abcdefghijklmnopqrstuvwxyz0123456789-";

std::set<std::string> sections_of(const fs::path& page) {
  std::set<std::string> sections;
  for (const std::string& line : lines_of(read_text(page))) {
    if (line.starts_with("## ")) sections.insert(trimmed(std::string_view(line).substr(3)));
  }
  return sections;
}

}  // namespace

Violations check_catalogue(const fs::path& root) {
  const std::vector<Entry> entries =
      entries_of(read_text(root / "include" / "groma" / "catalogue.inc"));
  if (entries.empty()) return {"include/groma/catalogue.inc declares nothing"};
  const auto emitted = names_after(all_text(root, {"lib", "examples"}), "DiagId::", kWord);
  const auto tested = names_after(
      all_text(root, {"tests/language", "tests/unit", "tests/command", "tests/legion"}), "[", kId);
  const auto explained = sections_of(root / "docs" / "diagnostics.md");

  Violations violations;
  std::set<std::string> enumerators, ids;
  for (const auto& [enumerator, id] : entries) {
    if (!enumerators.insert(enumerator).second) violations.push_back(enumerator + " stands twice");
    if (!ids.insert(id).second) violations.push_back(id + " stands twice");
    if (!emitted.contains(enumerator)) {
      violations.push_back(id + " is never reported: no `DiagId::" + enumerator +
                           "` in lib/ or examples/");
    }
    if (!explained.contains(id)) {
      violations.push_back(id + " is not explained: no `## " + id + "` in docs/diagnostics.md");
    }
    if (!tested.contains(id)) {
      violations.push_back(id + " is not tested: no `[" + id +
                           "]` below tests/language, tests/unit, tests/command or tests/legion");
    }
  }
  static const std::regex kIdShape("[a-z0-9]+(-[a-z0-9]+)*");
  for (const std::string& section : explained) {
    if (std::regex_match(section, kIdShape) && !ids.contains(section)) {
      violations.push_back("docs/diagnostics.md explains " + section + ", which does not exist");
    }
  }
  return violations;
}

}  // namespace groma::architecture
