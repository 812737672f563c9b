// ScoreMemory: the results of the configurations that were tried last, by the hash of the
// configuration. With this memory a search need not try a configuration twice.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "search/recent.h"

namespace groma::tuning {

// Returns the hash of a choice, which holds the index of the chosen option of each decision.
inline std::uint64_t hash_of(const std::vector<std::uint32_t>& choice) {
  std::uint64_t hash = choice.size();
  for (std::uint32_t option : choice) hash = mix_bits(hash ^ option) + 1;
  return hash;
}

// The result of a configuration that was tried.
struct TriedScore {
  // The score of the configuration, of which less is better. Infinite for a failure.
  double score = std::numeric_limits<double>::infinity();
  bool ok = false;
  // True if the result was better than all earlier results, or was the first result.
  bool was_best = false;
  // The number of the step that tried the configuration; 0 if the proposer does not need it.
  std::int64_t step = 0;
};

using ScoreMemory = RecentMap<TriedScore>;

}  // namespace groma::tuning
