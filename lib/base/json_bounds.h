// JSON that comes from elsewhere, looked at before a tree is made of it.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace groma {

// Whether nothing in it is nested deeper than 200, which trees are copied and destroyed by
// recursion for, and no object has more than 10'000 keys, which ordered ones are searched for one
// by one. Whether it is JSON at all is for the parser to say.
inline bool within_json_bounds(std::string_view text) {
  constexpr std::size_t kMostOpen = 200, kMostKeys = 10'000;
  std::array<std::size_t, kMostOpen + 1> keys{};  // of what is open
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
