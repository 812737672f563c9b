// Bandit: which of several techniques to use next, by the area under the curve of their successes.
// After opentuner/search/bandittechniques.py (AUCBanditQueue) and Fialho et al., Comparison-based
// Adaptive Strategy Selection with Bandits in Differential Evolution.
#pragma once

#include <cstddef>
#include <deque>
#include <vector>

#include "base/random.h"

namespace groma::tuning {

class Bandit {
 public:
  // `exploration` weighs how little is known of a technique; only the last `window` uses count.
  explicit Bandit(std::size_t techniques, double exploration = 0.05, std::size_t window = 500)
      : exploration_(exploration), window_(window), arms_(techniques) {}

  void push(std::size_t technique, bool success);

  // 0 to 1: successes, the late ones of more weight.
  double area(std::size_t technique) const;
  // The area and the exploration; infinite for what was not used within the window.
  double score(std::size_t technique) const;
  // The highest score first, equal ones in any order.
  std::vector<std::size_t> order(Draws& draws) const;

 private:
  struct Use {
    std::size_t technique;
    bool success;
  };
  struct Arm {
    double uses = 0;
    double sum = 0;        // of the places, from 1, of its successes among its uses
    double successes = 0;  // by so much the sum falls when the first use is forgotten
  };
  double exploration_;
  std::size_t window_;
  std::deque<Use> history_;
  std::vector<Arm> arms_;
};

}  // namespace groma::tuning
