// Repeats: writes a sequence as loops, so that repetitions occur only once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace groma::app {

// An element of a folded sequence: a symbol, or a loop that repeats its body `count` times. The
// body consists of symbols and loops.
struct FoldedElement {
  std::uint32_t symbol = 0;
  // The number of repetitions. It is at least 2 if there is a body.
  std::uint32_t count = 1;
  std::vector<FoldedElement> body = {};
  friend bool operator==(const FoldedElement&, const FoldedElement&) = default;
};

// Limit on the nesting of loops in a folded sequence.
inline constexpr int kMaxRepeatDepth = 16;

// Returns the sequence with immediate repetitions folded into loops. The search goes from left to
// right and folds the repetition that covers the most symbols first. A period has at most 1,024
// symbols or loops. Equal sequences give equal results. Example: 1 2 2 1 2 2 becomes a loop of two
// iterations around 1 and a loop of two iterations around 2.
std::vector<FoldedElement> fold_into_loops(std::span<const std::uint32_t> sequence);

// Returns the number of symbols that `folded` stands for. Stops counting above `most`.
std::uint64_t unfolded_size(const std::vector<FoldedElement>& folded, std::uint64_t most);
// Appends the symbols that `folded` stands for.
void unfold(const std::vector<FoldedElement>& folded, std::vector<std::uint32_t>& sequence);

}  // namespace groma::app
