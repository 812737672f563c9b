// Checks the limits of foreign JSON before it is parsed into a tree.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace groma {

// Returns true if the JSON text can be parsed into a tree without too much recursion or work.
// Arrays and objects may be nested at most 200 deep, since trees are copied and destroyed by
// recursion. A JSON object that keeps the order of its keys compares each new key with all keys
// before it, so the number of these comparisons is limited: one object may have 10'000 keys, and
// any number of objects with up to 80 keys is accepted. The function does not check that `text` is
// valid JSON; the parser does.
inline bool within_json_bounds(std::string_view text) {
  constexpr std::size_t kMaxOpen = 200, kMaxKeys = 10'000;
  const std::size_t max_comparisons = kMaxKeys * kMaxKeys / 2 + 8 * text.size();
  // keys[d] is the number of keys that were found so far in the open object at nesting depth d.
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
