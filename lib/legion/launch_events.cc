// Gives launches numbers, and collects the regions that projection functors give to the points. A
// launch is described by its shape (task, requirements) and its numbers (domain, colours).
#include "legion/launch_events.h"

#include <algorithm>

#include "groma/app.h"

namespace groma::legion {
namespace {

using app::Events;

// The number of bytes of a launch's arguments that are compared to tell whether two launches are
// equal.
constexpr std::size_t kMaxArgumentBytes = 256;
// The largest number of launch classes (LaunchClass) that are kept.
constexpr std::size_t kMaxAlike = 4096;
// The largest number of launches with projection functors of which some points are not mapped yet.
constexpr std::size_t kMaxPending = 16'384;

// Returns the index of a point of a rectangle in row-major order (the last coordinate changes
// fastest).
std::size_t index_in(const Rect& domain, const Point& point) {
  std::int64_t index = 0;
  for (int d = 0; d < domain.dimensions(); ++d) {
    index = index * domain.extents[d] + point[d] - domain.lower[d];
  }
  return static_cast<std::size_t>(index);
}

// Appends the lower corners and the extents of the boxes.
void add_corners(const std::vector<Rect>& boxes, std::vector<std::int64_t>& numbers) {
  for (const Rect& box : boxes) {
    for (const Point& corner : {box.lower, box.extents}) {
      numbers.insert(numbers.end(), corner.coordinates().begin(), corner.coordinates().end());
    }
  }
}

// Returns a launch shape as text, for use as a key: equal shapes have equal texts.
std::string text_of_shape(const Events::LaunchShape& shape) {
  Events alone;
  alone.shapes = {shape};
  return app::text_of(alone);
}

// Returns the first known region in a list of the regions that the points of a launch got. Returns
// null if none of them is known.
const RecordedRegionPath* any_known(const std::vector<std::optional<RecordedRegionPath>>& places) {
  const auto first = std::find_if(places.begin(), places.end(),
                                  [](const auto& place) { return place.has_value(); });
  return first == places.end() ? nullptr : &**first;
}

}  // namespace

// Adds a launch. A launch without projection functors is recorded at once. Any other launch becomes
// pending and joins the class of the launches with the same shape (task, requirements), the same
// arguments and the same numbers (domain, colours). For such launches a projection functor does the
// same.
void LaunchEvents::add(const LaunchKey& key, const Legion::Task& task, LaunchFacts launch) {
  if (!launch.boxes.empty()) {
    launch.sparse_domain = sparse_domain_number(launch);
    if (launch.sparse_domain < 0) {
      not_recorded_.add(
          "launches over domains with holes, each as one launch for each box of its domain");
    }
  }
  launched_ += launch.sparse_domain < 0 ? std::max<std::size_t>(1, launch.boxes.size()) : 1;
  if (launch.projected.empty()) return add_numbers(key, record_launch(launch, {}));
  std::string words = text_of_shape(launch.shape);
  if (task.args != nullptr) {
    words.append(static_cast<const char*>(task.args), std::min(task.arglen, kMaxArgumentBytes));
  }
  std::vector<std::int64_t> numbers = launch.numbers;
  add_corners(launch.boxes, numbers);
  std::shared_ptr<LaunchClass>& alike = alike_[{std::move(words), std::move(numbers)}];
  const std::int64_t points = launch.points;
  if (alike == nullptr)
    alike = std::make_shared<LaunchClass>(LaunchClass{std::move(launch), {}, 0});
  alike->used = launched_;
  pending_[key] = {alike, points, {}};
  pending_order_.push_back(key);
  apply_launch_limits();
}

// Notes that a run of a task made a launch. `numbers` are the indices in launches_ of the recorded
// launches that represent it: one for each box if its domain has holes.
void LaunchEvents::add_numbers(const LaunchKey& key, const std::vector<std::uint32_t>& numbers) {
  for (const std::uint32_t number : numbers) by_run_[key.first].emplace_back(key.second, number);
}

// Keeps the lists of pending launches and of launch classes within their limits. Half of the
// classes, those that were used least recently, are removed at once, so that the sort is rarely
// needed.
void LaunchEvents::apply_launch_limits() {
  while (pending_order_.size() > kMaxPending) {
    finish(pending_order_.front());
    pending_order_.pop_front();
  }
  if (alike_.size() <= kMaxAlike) return;
  std::vector<std::uint64_t> used;
  for (const auto& [words, alike] : alike_) used.push_back(alike->used);
  const auto middle = used.begin() + static_cast<std::ptrdiff_t>(used.size() / 2);
  std::nth_element(used.begin(), middle, used.end());
  std::erase_if(alike_, [&](const auto& each) { return each.second->used < *middle; });
}

// Completes a pending launch. If a trace replayed the launch, no mapper saw its points. An earlier,
// equal launch then describes it. Does nothing if the launch is not pending.
void LaunchEvents::finish(const LaunchKey& key) {
  const auto found = pending_.find(key);
  if (found == pending_.end()) return;
  const PendingLaunch& pending = found->second;
  const LaunchClass& alike = *pending.alike;
  const bool replayed = pending.places.empty() && !alike.seen.empty();
  add_numbers(key, replayed ? alike.seen : record_launch(alike.launch, pending.places));
  pending_.erase(found);
}

// Completes all pending launches, and sorts the launches of each run by their number in the run.
void LaunchEvents::finish() {
  while (!pending_.empty()) finish(LaunchKey(pending_.begin()->first));
  pending_order_.clear();
  for (auto& [run, launches] : by_run_) std::sort(launches.begin(), launches.end());
}

// Returns the positions, within the launch, of the requirements whose regions a projection functor
// decides.
std::vector<std::size_t> LaunchEvents::unresolved_requirements(const LaunchKey& key) const {
  const auto found = pending_.find(key);
  return found == pending_.end() ? std::vector<std::size_t>()
                                 : found->second.alike->launch.projected;
}

// Stores the regions that one point of a launch got. The last point completes the launch, which is
// then recorded. Later launches of its class that a trace replays are recorded like this one.
void LaunchEvents::add_point_regions(const LaunchKey& key, const Point& point,
                                     const std::vector<std::optional<RecordedRegionPath>>& places) {
  const auto found = pending_.find(key);
  if (found == pending_.end()) return;
  PendingLaunch& pending = found->second;
  LaunchClass& alike = *pending.alike;
  const Rect& domain = alike.launch.domain;
  if (!domain.contains(point)) return;
  if (pending.places.empty()) {
    pending.places.assign(places.size(), PointRegions(static_cast<std::size_t>(domain.volume())));
  }
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i]) pending.places[i][index_in(domain, point)] = places[i];
  }
  if (--pending.unseen > 0) return;
  alike.seen = record_launch(alike.launch, pending.places);
  add_numbers(key, alike.seen);
  pending_.erase(found);
}

// Records a launch and returns the indices in launches_ that represent it. The regions of its
// points (`places`) complete its description. In the numbers of a recorded launch, the table of
// these regions comes last, because tables of different domains have different lengths.
std::vector<std::uint32_t> LaunchEvents::record_launch(const LaunchFacts& launch,
                                                       const std::vector<PointRegions>& places) {
  Events::LaunchShape shape = launch.shape;
  // For each requirement whose regions a projection functor decides: the region of one point, or
  // null if no region is known.
  std::vector<const RecordedRegionPath*> known;
  // A projected requirement is described by the partition of its first known region. Without one,
  // the requirement counts as the whole region.
  for (std::size_t i = 0; i < launch.projected.size(); ++i) {
    Events::Requirement& of = shape.requirements[launch.projected[i]];
    of.color_rule = Events::ColorRule::kWhole;
    known.push_back(nullptr);
    if (i >= places.size()) {
      not_recorded_.add("projections of launches that were not seen");
      continue;
    }
    const RecordedRegionPath* const place = any_known(places[i]);
    if (place == nullptr || place->partition < 0) continue;
    of.color_rule = Events::ColorRule::kMapped;
    of.partition = place->partition;
    of.region = place->region;
    known.back() = place;
  }
  // All points become one launch, or each box of the domain becomes one.
  const auto dimensions = static_cast<std::size_t>(launch.domain.dimensions());
  std::vector<LaunchDomain> domains;
  if (launch.sparse_domain >= 0) {
    domains.emplace_back(launch.domain, PointSet::from_boxes(launch.boxes).value());
  } else if (launch.boxes.empty()) {
    domains.emplace_back(launch.domain);
  } else {
    domains.assign(launch.boxes.begin(), launch.boxes.end());
  }
  std::vector<std::uint32_t> made;
  for (const LaunchDomain& domain : domains) {
    const Rect& box = domain.box;
    std::vector<std::int64_t> numbers = launch.numbers;
    for (std::size_t d = 0; d < shape.dimensions; ++d) {
      numbers[d] = box.lower[static_cast<int>(d)];
      numbers[dimensions + d] = box.extents[static_cast<int>(d)];
    }
    for (std::size_t i = 0; i < known.size(); ++i) {
      if (known[i] == nullptr || domain.count() == 0) continue;
      // The colours of each point's region, in row-major order. A point whose region belongs to
      // another partition gets kNoNumber.
      Point point = domain.first_point();
      do {
        const std::optional<RecordedRegionPath>& place = places[i][index_in(launch.domain, point)];
        const bool is_alike =
            place && place->partition == known[i]->partition && place->region == known[i]->region;
        if (!is_alike && place) not_recorded_.add("pieces that are of another partition");
        for (std::size_t d = 0; d < known[i]->colors.size(); ++d) {
          numbers.push_back(is_alike ? place->colors[d] : app::kNoNumber);
        }
      } while (next_point(domain, &point));
    }
    if (const auto number = number_of(shape, launch.sparse_domain, std::move(numbers))) {
      made.push_back(*number);
    }
  }
  return made;
}

// Returns the number of a launch shape. Shapes are compared as text, because a shape is a large
// structure without an order.
std::optional<std::uint32_t> LaunchEvents::shape_number(Events::LaunchShape shape) {
  std::string words = text_of_shape(shape);
  const auto known = shape_numbers_.find(words);
  if (known != shape_numbers_.end()) return known->second;
  if (shapes_.size() >= app::kMaxEventShapes) {
    not_recorded_.add("launches of kinds after those that are kept");
    return std::nullopt;
  }
  const auto number = static_cast<std::uint32_t>(shapes_.size());
  shapes_.push_back(std::move(shape));
  return shape_numbers_[std::move(words)] = number;
}

// Equal domains share a number, since a program may make the same index space in each turn of a
// loop.
std::int32_t LaunchEvents::sparse_domain_number(const LaunchFacts& launch) {
  const std::int64_t volume = launch.domain.volume();
  if (volume > kMaxConditionPoints) return -1;
  std::vector<std::int64_t> corners;
  add_corners(launch.boxes, corners);
  const auto known = sparse_domain_numbers_.find(corners);
  if (known != sparse_domain_numbers_.end()) return known->second;
  if (sparse_boxes_ + launch.boxes.size() > app::kMaxEventBoxes ||
      sparse_points_ + volume > app::kMaxSparsePoints) {
    return -1;
  }
  const auto points = PointSet::from_boxes(launch.boxes);
  const Rect& box = launch.domain;
  if (!points || points->bounds().lower != box.lower || points->bounds().extents != box.extents) {
    return -1;
  }
  sparse_boxes_ += launch.boxes.size();
  sparse_points_ += volume;
  const auto number = static_cast<std::int32_t>(sparse_domains_.size());
  sparse_domains_.push_back(launch.boxes);
  return sparse_domain_numbers_[std::move(corners)] = number;
}

// Returns the index in launches_ of the launch with this shape and these numbers, and adds the
// launch if it is new. If there is no room for more numbers, the latest launch of the same shape
// represents a new one.
std::optional<std::uint32_t> LaunchEvents::number_of(Events::LaunchShape of,
                                                     std::int32_t sparse_domain,
                                                     std::vector<std::int64_t> numbers) {
  const auto shape = shape_number(std::move(of));
  if (!shape) return std::nullopt;
  const auto [number, is_new] = launch_numbers_.try_emplace(
      {*shape, sparse_domain, numbers}, static_cast<std::uint32_t>(launches_.size()));
  if (!is_new) return number->second;
  if (numbers_ + numbers.size() > app::kMaxEventNumbers) {
    launch_numbers_.erase(number);
    // At the limit, the latest launch of the same shape represents this launch.
    for (std::size_t i = launches_.size(); i-- > 0;) {
      if (launches_[i].shape != *shape) continue;
      not_recorded_.add("launches that are described by one like them, since too many differ");
      return static_cast<std::uint32_t>(i);
    }
    not_recorded_.add("launches with numbers after those that are kept");
    return std::nullopt;
  }
  numbers_ += numbers.size();
  launches_.push_back({*shape, std::move(numbers), sparse_domain});
  return number->second;
}

// Returns the launches of a run. A run that launched nothing has an empty list.
const std::vector<LaunchEvents::NumberedLaunch>& LaunchEvents::launches_of_run(TaskRun run) const {
  static const std::vector<NumberedLaunch> kNone;
  const auto found = by_run_.find(run);
  return found == by_run_.end() ? kNone : found->second;
}

void LaunchEvents::add_to(Events& events) const {
  events.shapes = shapes_;
  events.sparse_domains = sparse_domains_;
  events.launches = launches_;
}

}  // namespace groma::legion
