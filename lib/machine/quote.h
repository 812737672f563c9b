// Quotes foreign text in messages: cuts and filters it.
#pragma once

#include <string>
#include <string_view>

namespace groma {

// Returns `text` in backticks, filtered by groma/harmless.h. After 60 bytes it is cut and ends with
// `...`.
std::string in_quotes(std::string_view text);

}  // namespace groma
