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

// The points are found without the lock, since Realm may have to wait for the sparsity map. Realm
// uses the ids of destroyed index spaces again, so a known domain counts only if it has the boxes
// that it had.
std::optional<PointSet> LaunchPoints::points_of(const Legion::Domain& domain) {
  if (domain.dense()) return std::nullopt;
  std::uint64_t boxes = 0, count = 0;
  const auto mix = [&boxes](std::int64_t value) {
    boxes = ((boxes ^ static_cast<std::uint64_t>(value)) * 0x9E3779B97F4A7C15U) ^ (boxes >> 29);
  };
  for_each_box(domain, [&](const Rect& box) {
    ++count;
    for (const std::int64_t x : box.lower.coordinates()) mix(x);
    for (const std::int64_t x : box.extents.coordinates()) mix(x);
  });
  {
    const std::lock_guard lock(mutex_);
    const auto known = known_.find(domain);
    if (known != known_.end() && known->second.boxes == boxes) return known->second.points;
  }
  std::optional<PointSet> points;
  if (count == 0) {
    const Point origin = Point::zeros(domain.get_dim());
    points =
        PointSet::from_predicate(Rect{origin, origin}, [](const Point&) { return false; }).value();
  } else if (count <= kMaxPointRuns) {
    std::vector<Rect> all;
    for_each_box(domain, [&](const Rect& box) { all.push_back(box); });
    if (Result<PointSet> made = PointSet::from_boxes(all)) points = *std::move(made);
  }
  const std::lock_guard lock(mutex_);
  boxes_ += count;
  if (known_.size() >= kMostDomains || boxes_ > kMostBoxes) {
    known_.clear();
    boxes_ = count;
  }
  known_[domain] = {boxes, points};
  return points;
}

}  // namespace groma::legion
