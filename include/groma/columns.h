// How much room a text takes on a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace groma {

// The columns of the text as harmless() shows it, as far as most terminals agree.
std::size_t columns_of(std::string_view text);

// The beginning of the text, as harmless() shows it, that takes at most so many columns.
std::string fitting(std::string_view text, std::size_t columns);

}  // namespace groma
