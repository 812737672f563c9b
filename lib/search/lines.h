// Shortens text from other programs and models before a person sees it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "groma/harmless.h"

namespace groma::tuning {

// Returns the text without spaces, tabs and line ends at both ends.
inline std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == text.npos) return text.substr(text.size());
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

// Returns the text on one line, with unprintable characters replaced, cut to `most` bytes.
inline std::string one_line(std::string_view text, std::size_t most) {
  return harmless(trimmed(text), most);
}

}  // namespace groma::tuning
