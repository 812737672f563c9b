// Bandit: a multi-armed bandit that chooses the search technique to use next, by the area under the
// curve of its successes. It prefers techniques that succeeded recently, and tries the others now
// and then. Source: opentuner/search/bandittechniques.py (AUCBanditQueue) and Fialho et al.,
// Comparison-based Adaptive Strategy Selection with Bandits in Differential Evolution.
#pragma once

#include <cstddef>
#include <deque>
#include <vector>

#include "base/random.h"

namespace groma::tuning {

// Ranks search techniques by their successes over their uses. A late success of a technique counts
// more than an early one.
class Bandit {
 public:
  // `exploration` is the weight of the bonus for techniques that were used rarely. Only the last
  // `window` uses of all techniques count.
  explicit Bandit(std::size_t techniques, double exploration = 0.05, std::size_t window = 500)
      : exploration_(exploration), window_(window), arms_(techniques) {}

  // Records one use of a technique, and whether that use gave a new best result.
  void record_use(std::size_t technique, bool success);

  // Returns the area under the technique's curve of successes, from 0 to 1. Later successes have
  // more weight than earlier ones.
  double area_under_curve(std::size_t technique) const;
  // Returns the area under the curve plus the exploration bonus, which is larger for techniques
  // that are used rarely. Returns infinity if the technique was not used within the window.
  double score(std::size_t technique) const;
  // Returns the indices of the techniques, the highest score first. Techniques with equal scores
  // are in random order.
  std::vector<std::size_t> techniques_by_score(RandomNumbers& draws) const;

 private:
  struct TechniqueUse {
    std::size_t technique;
    bool success;
  };
  // The statistics of one technique within the window of the last uses.
  struct TechniqueStatistics {
    double uses = 0;
    // The sum of the positions (from 1) that the successful uses have among all uses of the
    // technique.
    double success_position_sum = 0;
    // The number of successful uses. When the oldest use of the technique is dropped, each position
    // falls by 1, so `sum` falls by this number.
    double successes = 0;
  };
  double exploration_;
  std::size_t window_;
  std::deque<TechniqueUse> history_;
  std::vector<TechniqueStatistics> arms_;
};

}  // namespace groma::tuning
