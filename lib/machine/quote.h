// Foreign text in messages: cut and made printable.
#pragma once

#include <string>
#include <string_view>

namespace groma {

// `text` in backticks, at most 60 characters of it (then `...`), bytes that are not printable ASCII
// as \xNN: what comes out is always valid, short text.
std::string in_quotes(std::string_view text);

}  // namespace groma
