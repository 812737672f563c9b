// ScoreMemory: the scores of the configurations that were tried last. The key is the hash of the
// configuration. With this memory no configuration is tried twice.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "search/recent.h"

namespace groma::tuning {

// Returns the hash of the chosen options of a search space.
inline std::uint64_t hash_of(const std::vector<std::uint32_t>& choice) {
  std::uint64_t hash = choice.size();
  for (std::uint32_t option : choice) hash = mix_bits(hash ^ option) + 1;
  return hash;
}

// The result of a configuration that was tried.
struct TriedScore {
  double score = std::numeric_limits<double>::infinity();  // infinite for a failure
  bool ok = false;
  bool was_best = false;  // true: it was better than all earlier results, or the first result
};

using ScoreMemory = RecentMap<TriedScore>;

}  // namespace groma::tuning
