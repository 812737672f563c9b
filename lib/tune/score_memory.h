// ScoreMemory: what came of the last tries, by a hash of what was tried, so that nothing has to be
// tried twice. Bounded: a search may be as long as one likes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <unordered_map>
#include <vector>

#include "base/names.h"

namespace groma::tuning {

// Of a Choice of the search space.
inline std::uint64_t hash_of(const std::vector<std::uint32_t>& choice) {
  std::uint64_t hash = choice.size();
  for (std::uint32_t option : choice) hash = mix(hash ^ option) + 1;
  return hash;
}

struct Scored {
  double score = std::numeric_limits<double>::infinity();  // of a failure too
  bool ok = false;
  bool was_best = false;  // better than all before it, or the first
};

class ScoreMemory {
 public:
  static constexpr std::size_t kKept = 1 << 17;
  explicit ScoreMemory(std::size_t kept = kKept) : kept_(kept) {}

  // Null: not tried, or too long ago. Good until the next add.
  const Scored* find(std::uint64_t hash) const {
    const auto found = scores_.find(hash);
    return found == scores_.end() ? nullptr : &found->second;
  }
  // Of two with one hash the first stays.
  void add(std::uint64_t hash, const Scored& scored) {
    if (!scores_.emplace(hash, scored).second) return;
    if (order_.size() < kept_) {
      order_.push_back(hash);
      return;
    }
    scores_.erase(order_[oldest_]);
    order_[oldest_] = hash;
    oldest_ = (oldest_ + 1) % kept_;
  }

 private:
  std::size_t kept_, oldest_ = 0;
  std::unordered_map<std::uint64_t, Scored> scores_;
  std::vector<std::uint64_t> order_;  // a ring once it is full
};

}  // namespace groma::tuning
