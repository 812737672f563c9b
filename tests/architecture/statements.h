// Whether statements of mappings are written in one place, lib/edit.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "architecture/text.h"

namespace groma::architecture {

// A file that may hold texts of statements, with the reason.
struct HoldsStatements {
  std::string_view file;  // relative to the root
  std::string_view why;
};

// Reports each string of the code in lib/ (except lib/edit) and examples/driver that begins a
// statement of the mapping language: the string, or a line or a quotation in it, begins with the
// word of a statement or with `def`, followed by a space. In sentences, the word `statement` or a
// small letter follows. An exception that nothing needs is reported too.
Violations check_statements(const std::filesystem::path& root,
                            const std::vector<HoldsStatements>& allowed);

}  // namespace groma::architecture
