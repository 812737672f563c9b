#include "architecture/text.h"

#include <algorithm>

#include "support/files.h"

namespace groma::architecture {

namespace fs = std::filesystem;

std::string read_text(const fs::path& path) { return testing::read_text(path); }

std::vector<fs::path> files_below(const fs::path& folder) {
  std::vector<fs::path> files;
  if (!fs::is_directory(folder)) return files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return "";
  return std::string(text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1));
}

std::vector<std::string> table_cells(std::string_view line) {
  std::vector<std::string> cells;
  if (line.empty() || line.front() != '|') return cells;
  line.remove_prefix(1);
  for (std::size_t end; (end = line.find('|')) != std::string_view::npos;) {
    cells.push_back(trimmed(line.substr(0, end)));
    line.remove_prefix(end + 1);
  }
  return cells;
}

std::vector<std::string> names_in(std::string_view cell) {
  std::vector<std::string> names;
  while (!cell.empty()) {
    const std::size_t end = std::min(cell.find(','), cell.size());
    std::string name = trimmed(cell.substr(0, end));
    std::erase(name, '`');
    if (!name.empty() && name != "-") names.push_back(name);
    cell.remove_prefix(std::min(end + 1, cell.size()));
  }
  return names;
}

}  // namespace groma::architecture
