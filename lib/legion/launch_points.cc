// Finds the points of launches over sparse index spaces.
#include "legion/launch_points.h"

#include <vector>

#include "legion/task_views.h"

namespace groma::legion {
namespace {

// Limits on the cached domains and on their boxes. A program that makes new domains all the time
// has old ones found again, which takes a time that grows with their boxes.
constexpr std::size_t kMostDomains = 1024;
constexpr std::size_t kMostBoxes = std::size_t{1} << 22;

}  // namespace

// The points are found without the lock, since Realm may have to wait for the sparsity map.
std::optional<PointSet> LaunchPoints::points_of(const Legion::Domain& domain) {
  if (domain.dense()) return std::nullopt;
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = known_.find(domain); known != known_.end()) return known->second;
  }
  std::vector<Rect> boxes;
  for_each_box(domain, [&](const Rect& box) { boxes.push_back(box); });
  std::optional<PointSet> points;
  if (boxes.empty()) {
    points = PointSet::from_predicate(
                 Rect{Point::zeros(domain.get_dim()), Point::zeros(domain.get_dim())},
                 [](const Point&) { return false; })
                 .value();
  } else if (Result<PointSet> made = PointSet::from_boxes(boxes)) {
    points = *std::move(made);
  }
  const std::lock_guard lock(mutex_);
  boxes_ += boxes.size();
  if (known_.size() >= kMostDomains || boxes_ > kMostBoxes) {
    known_.clear();
    boxes_ = boxes.size();
  }
  return known_.emplace(domain, points).first->second;
}

}  // namespace groma::legion
