// Name patterns such as `calc_*`: a `*` stands for any characters, also for none. Emitted mappers
// contain this file too (lib/emit/parts.cc), so it includes the standard library only.
#pragma once

#include <cstddef>
#include <string_view>

namespace groma {

// Returns true if the pattern matches the whole name. Takes at most name.size() * pattern.size()
// steps.
inline bool matches_pattern(std::string_view name, std::string_view pattern) {
  constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  std::size_t n = 0, p = 0;
  // The last `*` that was reached, and the end of the characters that it stands for so far.
  std::size_t star = kNone, end = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      end = n;
    } else if (p < pattern.size() && pattern[p] == name[n]) {
      ++n;
      ++p;
    } else if (star != kNone) {
      // The characters after the last `*` do not match here, so the `*` takes one character more.
      p = star + 1;
      n = ++end;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace groma
