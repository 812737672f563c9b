// ScoreMemory: the results of the last tries, by a hash of the configuration, so that nothing is
// tried twice.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "search/recent.h"

namespace groma::tuning {

// Returns the hash of a Choice of the search space.
inline std::uint64_t hash_of(const std::vector<std::uint32_t>& choice) {
  std::uint64_t hash = choice.size();
  for (std::uint32_t option : choice) hash = mix(hash ^ option) + 1;
  return hash;
}

struct Scored {
  double score = std::numeric_limits<double>::infinity();  // infinite for a failure
  bool ok = false;
  bool was_best = false;  // better than all before it, or the first
};

using ScoreMemory = Recent<Scored>;

}  // namespace groma::tuning
