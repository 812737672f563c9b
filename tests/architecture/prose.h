// Whether code decides by the words of a text that the project itself writes for people.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "architecture/text.h"

namespace groma::architecture {

// A text that a file may search for or compare with, because somebody else wrote it.
struct ForeignText {
  std::string_view file;     // relative to the root
  std::string_view literal;  // empty: any; the file only reads foreign texts
  std::string_view whose;
};

// Reports each comparison (`==`, `!=`) and each search (starts_with, ends_with, find, rfind,
// contains, RE2) in lib/ and examples/ whose literal looks like prose: the literal has a space, a
// capital letter before a small one, or a full stop at its end. The literal stands in the call or
// in a constant (`kName`) of the same file. `allowed` are the exceptions. An exception that nothing
// needs is reported too.
Violations check_prose(const std::filesystem::path& root, const std::vector<ForeignText>& allowed);

}  // namespace groma::architecture
