// Files and lines for the tests that read the tree itself.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace groma::architecture {

// What a rule found: sentences that name the file. Empty: all is well.
using Violations = std::vector<std::string>;

// The whole file; empty when it cannot be read.
std::string read_text(const std::filesystem::path& path);

// Every file below `folder` (nothing when there is no such folder), sorted.
std::vector<std::filesystem::path> files_below(const std::filesystem::path& folder);

std::vector<std::string> lines_of(std::string_view text);

// Without white space at either end.
std::string trimmed(std::string_view text);

// The cells of a Markdown table's row `| a | b |`; empty for any other line.
std::vector<std::string> table_cells(std::string_view line);

// The parts of "`a`, b" between commas, without backquotes; none for "-".
std::vector<std::string> names_in(std::string_view cell);

}  // namespace groma::architecture
