// Appends formatted text to a string.
#pragma once

#include <fmt/format.h>

#include <iterator>
#include <string>
#include <utility>

namespace groma {

// Appends the values to `text` as `format` says. A caller that writes HTML or JSON escapes foreign
// texts itself.
template <typename... Values>
void append_format(std::string* text, fmt::format_string<Values...> format, Values&&... values) {
  fmt::format_to(std::back_inserter(*text), format, std::forward<Values>(values)...);
}

}  // namespace groma
