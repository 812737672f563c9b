// Small parts that the files of `groma serve` share: limits, and lists of words.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

namespace driver {

// Limit on the items of a list in the arguments of a call.
inline constexpr std::size_t kMaxListItems = 32;

inline constexpr std::string_view kEndpointWords =
    "The endpoint of the language model: one of those that the server allows (default: the first)";

// Splits a text at its spaces.
inline std::vector<std::string_view> words_in(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

}  // namespace driver
