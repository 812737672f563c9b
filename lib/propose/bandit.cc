// Bandit: chooses the search technique to use next by the area under the curve of its successes.
#include "propose/bandit.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace groma::tuning {

// Updates the sums of the technique's arm incrementally. Drops the oldest use if the window is
// full; every remaining success of its arm then moves down by one position, so `sum` falls by their
// number.
void Bandit::record_use(std::size_t technique, bool success) {
  history_.push_back({technique, success});
  Arm& arm = arms_[technique];
  ++arm.uses;
  if (success) {
    arm.sum += arm.uses;
    ++arm.successes;
  }
  if (history_.size() <= window_) return;
  const TechniqueUse oldest = history_.front();
  history_.pop_front();
  Arm& old = arms_[oldest.technique];
  --old.uses;
  old.sum -= old.successes;
  if (oldest.success) --old.successes;
}

// The area is divided by the largest possible one, in which every use succeeds.
double Bandit::area_under_curve(std::size_t technique) const {
  const Arm& arm = arms_[technique];
  return arm.uses == 0 ? 0 : 2 * arm.sum / (arm.uses * (arm.uses + 1));
}

// The score is the area plus exploration * sqrt(2 log2(all uses) / uses), as in AUCBanditQueue.
double Bandit::score(std::size_t technique) const {
  const double uses = arms_[technique].uses;
  if (uses == 0) return std::numeric_limits<double>::infinity();
  const auto all = static_cast<double>(history_.size());
  return area_under_curve(technique) + exploration_ * std::sqrt(2 * std::log2(all) / uses);
}

// Shuffles before the stable sort, so that ties are in random order.
std::vector<std::size_t> Bandit::techniques_by_score(Draws& draws) const {
  std::vector<std::size_t> techniques(arms_.size());
  std::iota(techniques.begin(), techniques.end(), 0);
  draws.shuffle(techniques);
  std::stable_sort(techniques.begin(), techniques.end(),
                   [&](std::size_t a, std::size_t b) { return score(a) > score(b); });
  return techniques;
}

}  // namespace groma::tuning
