// Bandit: chooses the search technique to use next by the area under the curve of its successes.
#include "propose/bandit.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace groma::tuning {

// Updates the statistics of a technique. If the window is full, drops the oldest use. Every success
// of that use's technique then moves down by one position, so `sum` falls by their number.
void Bandit::record_use(std::size_t technique, bool success) {
  history_.push_back({technique, success});
  TechniqueStatistics& arm = arms_[technique];
  ++arm.uses;
  if (success) {
    arm.success_position_sum += arm.uses;
    ++arm.successes;
  }
  if (history_.size() <= window_) return;
  const TechniqueUse oldest = history_.front();
  history_.pop_front();
  TechniqueStatistics& old = arms_[oldest.technique];
  --old.uses;
  old.success_position_sum -= old.successes;
  if (oldest.success) --old.successes;
}

// Divides the area by the largest possible area, which a technique has if every use succeeds.
double Bandit::area_under_curve(std::size_t technique) const {
  const TechniqueStatistics& arm = arms_[technique];
  return arm.uses == 0 ? 0 : 2 * arm.success_position_sum / (arm.uses * (arm.uses + 1));
}

// The score is the area plus exploration * sqrt(2 log2(all uses) / uses), as in AUCBanditQueue.
double Bandit::score(std::size_t technique) const {
  const double uses = arms_[technique].uses;
  if (uses == 0) return std::numeric_limits<double>::infinity();
  const auto all = static_cast<double>(history_.size());
  return area_under_curve(technique) + exploration_ * std::sqrt(2 * std::log2(all) / uses);
}

// Shuffles the techniques before the stable sort by score, so that equal scores are in random
// order.
std::vector<std::size_t> Bandit::techniques_by_score(RandomNumbers& draws) const {
  std::vector<std::size_t> techniques(arms_.size());
  std::iota(techniques.begin(), techniques.end(), 0);
  draws.shuffle(techniques);
  std::stable_sort(techniques.begin(), techniques.end(),
                   [&](std::size_t a, std::size_t b) { return score(a) > score(b); });
  return techniques;
}

}  // namespace groma::tuning
