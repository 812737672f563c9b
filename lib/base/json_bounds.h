// Checks the limits of foreign JSON before it is parsed into a tree.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace groma {

// Returns true if `text` is within the limits of a tree. The nesting is at most 200, since trees
// are copied and destroyed by recursion. An object has at most 10'000 keys, since ordered objects
// are searched linearly. The function does not check that `text` is valid JSON; the parser does.
inline bool within_json_bounds(std::string_view text) {
  constexpr std::size_t kMostOpen = 200, kMostKeys = 10'000;
  std::array<std::size_t, kMostOpen + 1> keys{};  // number of keys of each open object
  std::size_t open = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '\\') ++i;
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (c == ':' && ++keys[open] > kMostKeys) return false;
    if ((c == ']' || c == '}') && open > 0) --open;
    if (c != '[' && c != '{') continue;
    if (++open > kMostOpen) return false;
    keys[open] = 0;
  }
  return true;
}

}  // namespace groma
