// Measures texts in columns of a terminal, and cuts them to a number of columns.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace groma {

// Returns how many columns most terminals need to show harmless(text).
std::size_t columns_of(std::string_view text);

// Returns the beginning of harmless(text) that needs at most `columns` columns.
std::string cut_to_columns(std::string_view text, std::size_t columns);

}  // namespace groma
