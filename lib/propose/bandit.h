// Bandit: chooses which search technique to use next, by the area under the curve of its successes.
// Techniques that succeeded recently are preferred; others are tried now and then. Source:
// opentuner/search/bandittechniques.py (AUCBanditQueue) and Fialho et al., Comparison-based
// Adaptive Strategy Selection with Bandits in Differential Evolution.
#pragma once

#include <cstddef>
#include <deque>
#include <vector>

#include "base/random.h"

namespace groma::tuning {

// The curve of a technique counts its successes over its uses, so a late success adds more area.
class Bandit {
 public:
  // `exploration` is the weight of the bonus for techniques that were used rarely. Only the last
  // `window` uses of all techniques count.
  explicit Bandit(std::size_t techniques, double exploration = 0.05, std::size_t window = 500)
      : exploration_(exploration), window_(window), arms_(techniques) {}

  // Records one use of a technique, and whether it gave a new best result.
  void record_use(std::size_t technique, bool success);

  // Returns the area under the curve, 0 to 1. Later successes have more weight.
  double area_under_curve(std::size_t technique) const;
  // Returns the area plus the exploration bonus; infinity if the technique was not used within the
  // window.
  double score(std::size_t technique) const;
  // Returns the techniques by score, highest first. Ties are in random order.
  std::vector<std::size_t> techniques_by_score(Draws& draws) const;

 private:
  struct TechniqueUse {
    std::size_t technique;
    bool success;
  };
  // The statistics of one technique within the window.
  struct Arm {
    double uses = 0;
    double sum = 0;        // sum of the 1-based positions of the successes among the arm's uses
    double successes = 0;  // `sum` falls by this when the oldest use is dropped
  };
  double exploration_;
  std::size_t window_;
  std::deque<TechniqueUse> history_;
  std::vector<Arm> arms_;
};

}  // namespace groma::tuning
