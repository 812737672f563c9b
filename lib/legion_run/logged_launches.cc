// Keeps the launches of a mapper log by the name of their task, the latest launch last.
#include "legion_run/logged_launches.h"

#include <algorithm>
#include <utility>

#include "groma/explain_log.h"

namespace groma::inspect {
namespace {

// The largest number of launches of a task that are considered for one point, which bounds the time
// to read a log.
constexpr int kMaxCandidates = 64;

}  // namespace

// Adds an index launch, unless it was added before. A log shows a launch again if Legion slices one
// of its slices again. This happens only to the latest launch of a task, so the unique id is
// compared with that of the latest launch only.
LoggedLaunches::Launch* LoggedLaunches::add(const LoggedTask& task, const Rect& domain, bool whole,
                                            LogLimits& limits) {
  if (count_ >= kMaxLogLaunches) {
    limits.leave_out();
    return nullptr;
  }
  auto known = by_task_.find(task.name);
  if (known == by_task_.end()) {
    if (!limits.has_room(task.name.size())) return nullptr;
    known = by_task_.try_emplace(task.name).first;
  }
  std::deque<Launch>& launches = known->second;
  if (!launches.empty() && launches.back().uid == task.uid) return nullptr;
  ++count_;
  return &launches.emplace_back(Launch{task.uid, domain, whole, 0});
}

// Extends the domain of a launch to the bounding box of its present domain and the slice.
bool LoggedLaunches::extend(Launch& launch, const Rect& slice) {
  if (launch.is_domain_stated) return true;
  // The bounding box of the slices of the launch that were read so far.
  Rect& all = launch.domain;
  if (all.dimensions() != slice.dimensions()) return false;
  Point first = all.lower, last = all.lower;
  for (int d = 0; d < all.dimensions(); ++d) {
    first[d] = std::min(first[d], slice.lower[d]);
    last[d] =
        std::max(all.lower[d] + (all.extents[d] - 1), slice.lower[d] + (slice.extents[d] - 1));
  }
  const auto around = box_between(first, last);
  if (around) all = *around;
  return around.has_value();
}

// Returns the launch to which a point task may belong: a launch of the same task that began
// earlier, contains the point and still lacks points. The point counts for the oldest such launch.
// If the domains of these launches differ, the result is null, because the log does not tell which
// one is right.
const LoggedLaunches::Launch* LoggedLaunches::launch_of_point(const LoggedTask& task) {
  const auto found = by_task_.find(task.name);
  if (found == by_task_.end()) return nullptr;
  int candidates = 0;
  Launch* oldest = nullptr;
  bool alike = true;
  for (auto one = found->second.rbegin(); one != found->second.rend(); ++one) {
    if (++candidates > kMaxCandidates) break;
    const bool may_be = one->uid < task.uid && one->domain.contains(*task.point) &&
                        one->mapped < one->domain.volume();
    if (!may_be) continue;
    alike = alike && (oldest == nullptr || (oldest->domain.lower == one->domain.lower &&
                                            oldest->domain.extents == one->domain.extents));
    oldest = &*one;
  }
  if (oldest == nullptr) return nullptr;
  ++oldest->mapped;
  return alike ? oldest : nullptr;
}

// Returns the index of a launch domain in domains_. Equal domains share one index, because most
// launches of a program repeat.
std::optional<std::size_t> LoggedLaunches::domain_index(const MapperLog::LaunchedDomain& domain,
                                                        LogLimits& limits) {
  std::vector<std::int64_t> numbers;
  for (const Point* point : {&domain.box.lower, &domain.box.extents}) {
    numbers.insert(numbers.end(), point->coordinates().begin(), point->coordinates().end());
  }
  numbers.push_back(domain.is_from_slices ? 1 : 0);
  if (domain.some_points) {
    numbers.push_back(*domain.some_points);
    numbers.push_back(static_cast<std::int64_t>(domain.id));
  }
  const auto known = indices_.find(numbers);
  if (known != indices_.end()) return known->second;
  if (domains_.size() >= kMaxLogLaunches) {
    limits.leave_out();
    return std::nullopt;
  }
  indices_.emplace(std::move(numbers), domains_.size());
  domains_.push_back(domain);
  return domains_.size() - 1;
}

}  // namespace groma::inspect
