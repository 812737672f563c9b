// Folds a sequence of symbols into nested loops, and unfolds it.
#include "recording/repeats.h"

#include <algorithm>
#include <map>
#include <utility>

namespace groma::app {
namespace {

constexpr std::size_t kMostPeriod = 1024;
// Limit on the comparisons of symbols in one folding pass.
constexpr std::size_t kMostComparisons = std::size_t{1} << 27;

// Folds repetitions into loops. Each loop becomes a new symbol, so that the next pass can find a
// loop around it.
class LoopFolder {
 public:
  explicit LoopFolder(std::uint32_t first_free) : first_free_(first_free) {}

  // Folds the sequence in passes, until a pass finds no repetition or `depth` passes were made.
  std::vector<FoldedElement> fold(std::vector<std::uint32_t> sequence, int depth) {
    for (bool more = depth > 0; more && depth > 0; --depth) {
      std::vector<std::uint32_t> shorter = pass(sequence, depth - 1);
      more = shorter.size() < sequence.size();
      sequence = std::move(shorter);
    }
    std::vector<FoldedElement> folded;
    for (const std::uint32_t symbol : sequence) folded.push_back(node(symbol));
    return folded;
  }

 private:
  // Returns the launch or the loop that a symbol stands for.
  FoldedElement node(std::uint32_t symbol) const {
    return symbol < first_free_ ? FoldedElement{symbol} : loops_[symbol - first_free_];
  }

  // Folds the repetitions of the sequence once, from left to right. For each position, `best` holds
  // the period of the repetition that begins there and covers the most symbols.
  std::vector<std::uint32_t> pass(const std::vector<std::uint32_t>& in, int depth) {
    struct BestRepetition {
      std::uint32_t period = 0, covers = 0;
    };
    const std::size_t n = in.size();
    std::vector<BestRepetition> best(n);
    const std::size_t most =
        std::min({kMostPeriod, n / 2,
                  std::max<std::size_t>(16, kMostComparisons / std::max<std::size_t>(1, n))});
    for (std::size_t period = 1; period <= most; ++period) {
      // The number of symbols, from position i on, that equal the symbol one period later.
      std::size_t equal = 0;
      for (std::size_t i = n - period; i-- > 0;) {
        equal = in[i] == in[i + period] ? equal + 1 : 0;
        const std::size_t covers = (equal / period + 1) * period;
        if (equal < period || covers <= best[i].covers) continue;
        best[i] = {static_cast<std::uint32_t>(period), static_cast<std::uint32_t>(covers)};
      }
    }
    std::vector<std::uint32_t> out;
    for (std::size_t i = 0; i < n;) {
      if (best[i].covers == 0) {
        out.push_back(in[i++]);
        continue;
      }
      const auto begin = in.begin() + static_cast<std::ptrdiff_t>(i);
      out.push_back(loop({begin, begin + best[i].period}, best[i].covers / best[i].period, depth));
      i += best[i].covers;
    }
    return out;
  }

  // Returns the symbol of a loop and folds the body of a new loop. Equal loops have the same
  // symbol, so that later passes can compare them.
  std::uint32_t loop(std::vector<std::uint32_t> body, std::uint32_t count, int depth) {
    const auto [found, is_new] =
        numbers_.try_emplace(std::pair(body, count), static_cast<std::uint32_t>(loops_.size()));
    const std::uint32_t number = found->second;
    if (is_new) {
      // A new loop gets its number before the loops within its body get theirs.
      loops_.emplace_back();
      FoldedElement made{0, count, fold(std::move(body), depth)};
      loops_[number] = std::move(made);
    }
    return first_free_ + number;
  }

  std::uint32_t first_free_;
  std::vector<FoldedElement> loops_;
  std::map<std::pair<std::vector<std::uint32_t>, std::uint32_t>, std::uint32_t> numbers_;
};

}  // namespace

// The numbers above the largest symbol of the sequence stand for loops.
std::vector<FoldedElement> fold_into_loops(std::span<const std::uint32_t> sequence) {
  std::uint32_t first_free = 0;
  for (const std::uint32_t symbol : sequence) first_free = std::max(first_free, symbol + 1);
  return LoopFolder(first_free).fold({sequence.begin(), sequence.end()}, kMaxRepeatDepth);
}

// Returns the number of symbols of the unfolded sequence, or `most` + 1 if there are more than
// `most`. So a short text with deep loops cannot cause a long computation.
std::uint64_t unfolded_size(const std::vector<FoldedElement>& folded, std::uint64_t most) {
  std::uint64_t size = 0;
  for (const FoldedElement& each : folded) {
    const std::uint64_t own = each.body.empty() ? 1 : unfolded_size(each.body, most);
    if (own > most / std::max<std::uint32_t>(1, each.count)) return most + 1;
    size += own * each.count;
    if (size > most) return most + 1;
  }
  return size;
}

// Appends the symbols of the unfolded sequence. The caller limits their number by unfolded_size().
void unfold(const std::vector<FoldedElement>& folded, std::vector<std::uint32_t>& sequence) {
  for (const FoldedElement& each : folded) {
    for (std::uint32_t i = 0; i < each.count; ++i) {
      if (each.body.empty()) {
        sequence.push_back(each.symbol);
      } else {
        unfold(each.body, sequence);
      }
    }
  }
}

}  // namespace groma::app
