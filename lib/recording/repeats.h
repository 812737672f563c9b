// Repeats: writes a sequence as loops, so that repetitions occur only once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace groma::app {

// A symbol, or a body of symbols and loops that is repeated `count` times.
struct Repeat {
  std::uint32_t symbol = 0;
  std::uint32_t count = 1;  // at least 2 for a body
  std::vector<Repeat> body = {};
  friend bool operator==(const Repeat&, const Repeat&) = default;
};

inline constexpr int kMaxRepeatDepth = 16;  // nesting of bodies

// Returns the sequence with immediate repetitions folded into loops. It searches from the left and
// folds the repetition that covers most first. Periods are at most 1,024 symbols or loops. Equal
// sequences give equal results.
std::vector<Repeat> fold(std::span<const std::uint32_t> sequence);

// Returns the number of symbols that `folded` stands for. Stops counting above `most`.
std::uint64_t unfolded_size(const std::vector<Repeat>& folded, std::uint64_t most);
// Appends the symbols that `folded` stands for.
void unfold(const std::vector<Repeat>& folded, std::vector<std::uint32_t>& sequence);

}  // namespace groma::app
