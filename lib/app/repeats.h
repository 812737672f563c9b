// Repeats: a sequence as loops, so that what repeats itself stands there once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace groma::app {

// A symbol, or a body that is repeated `count` times.
struct Repeat {
  std::uint32_t symbol = 0;
  std::uint32_t count = 1;  // of a body, at least 2
  std::vector<Repeat> body = {};
  friend bool operator==(const Repeat&, const Repeat&) = default;
};

inline constexpr int kMaxRepeatDepth = 16;  // of bodies in bodies

// What repeats itself at once, found from the left, that which covers most first; periods of up to
// 1,024 and what is made of them. Equal sequences give equal results.
std::vector<Repeat> fold(std::span<const std::uint32_t> sequence);

// How many symbols they stand for; stops counting above `most`.
std::uint64_t unfolded_size(const std::vector<Repeat>& folded, std::uint64_t most);
// Appends them.
void unfold(const std::vector<Repeat>& folded, std::vector<std::uint32_t>& sequence);

}  // namespace groma::app
