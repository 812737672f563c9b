#include "architecture/sources.h"

namespace groma::architecture {
namespace {

namespace fs = std::filesystem;

// As a whole word: `x.cc` is not in `box.cc`.
bool mentions(const std::string& text, const std::string& word) {
  static constexpr std::string_view kAround = " \t\n()\"";
  for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos; ++at) {
    const std::size_t end = at + word.size();
    const bool begins = at == 0 || kAround.find(text[at - 1]) != std::string_view::npos;
    const bool ends = end == text.size() || kAround.find(text[end]) != std::string_view::npos;
    if (begins && ends) return true;
  }
  return false;
}

// "source" of "groma_add_fuzzer(source" for source_fuzzer.cc; else nothing.
std::string name_of_kind(const fs::path& file) {
  const std::string stem = file.stem().string();
  for (const std::string kind : {"fuzzer", "benchmark"}) {
    if (!stem.ends_with("_" + kind)) continue;
    return stem.substr(0, stem.size() - kind.size() - 1);
  }
  return {};
}

bool is_listed(const fs::path& file, const std::vector<fs::path>& lists) {
  for (const fs::path& list : lists) {
    const std::string text = read_text(list);
    const std::string path = fs::relative(file, list.parent_path()).generic_string();
    const std::string name = name_of_kind(file);
    if (mentions(text, path) || (!name.empty() && mentions(text, name))) return true;
  }
  return false;
}

}  // namespace

Violations check_sources(const fs::path& root) {
  Violations violations;
  for (const char* part : {"lib", "examples", "tests", "benchmarks"}) {
    const std::vector<fs::path> files = files_below(root / part);
    std::vector<fs::path> lists;
    for (const fs::path& file : files) {
      if (file.filename() == "CMakeLists.txt") lists.push_back(file);
    }
    for (const fs::path& file : files) {
      const std::string name = fs::relative(file, root).generic_string();
      if (file.extension() != ".cc" || name.starts_with("tests/package/")) continue;
      if (!is_listed(file, lists)) violations.push_back(name + " stands in no CMakeLists.txt");
    }
  }
  return violations;
}

}  // namespace groma::architecture
