// Checks the limits of foreign JSON before it is parsed into a tree.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace groma {

// Returns true if `text` is within the limits of a tree. The nesting is at most 200, since trees
// are copied and destroyed by recursion. An ordered object compares each key with all keys before
// it, so the number of comparisons is limited: one object may have 10'000 keys, and objects of up
// to 80 keys are never too many. The function does not check that `text` is valid JSON; the parser
// does.
inline bool within_json_bounds(std::string_view text) {
  constexpr std::size_t kMaxOpen = 200, kMaxKeys = 10'000;
  const std::size_t max_comparisons = kMaxKeys * kMaxKeys / 2 + 8 * text.size();
  // The number of keys of each open object.
  std::array<std::size_t, kMaxOpen + 1> keys{};
  std::size_t open = 0, comparisons = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '\\') ++i;
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (c == ':' && (comparisons += keys[open]++) > max_comparisons) return false;
    if ((c == ']' || c == '}') && open > 0) --open;
    if (c != '[' && c != '{') continue;
    if (++open > kMaxOpen) return false;
    keys[open] = 0;
  }
  return true;
}

}  // namespace groma
