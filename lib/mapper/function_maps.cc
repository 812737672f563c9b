// Caches the index maps of launches, and implements the cursors that read them.
#include "mapper/function_maps.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

namespace groma::mapper {
namespace {

// Returns the point of the launch's map at which a point of the launch is evaluated. Reports an
// error if the domain does not have the point: a program may name a sharding space that lacks
// points of the launch.
std::optional<Point> map_point(const LaunchToPlace& launch, const Point& point,
                               Diagnostics& diags) {
  const std::optional<std::int64_t> rank =
      launch.points == nullptr ? std::nullopt : launch.points->rank(point);
  if (rank) return Point{*rank};
  if (launch.points == nullptr && launch.domain.contains(point)) return point;
  diags.report(DiagId::kBadSlices, std::nullopt, launch.task,
               fmt::format("the point ({}) is not in the domain in which points are placed",
                           fmt::join(point.coordinates(), ", ")));
  return std::nullopt;
}

// A multiplier for hashes: 2^64 divided by the golden ratio. Neighbouring numbers end far apart.
constexpr std::uint64_t kSpread = 0x9E3779B97F4A7C15U;

// Returns the hash of a launch. A launch and the cache key made from it have equal hashes.
template <typename L>
std::size_t hash_of(const L& launch) {
  std::uint64_t hash = launch.function;
  const auto mix = [&](auto value) {
    hash = ((hash ^ static_cast<std::uint64_t>(value)) * kSpread) ^ (hash >> 29);
  };
  const std::hash<std::string_view> text;
  mix(launch.kind ? static_cast<std::size_t>(*launch.kind) : kProcKindCount);
  for (int d = 0; d < launch.domain.dimensions(); ++d) {
    mix(launch.domain.lower[d]);
    mix(launch.domain.extents[d]);
  }
  mix(text(launch.task));
  if (launch.points) mix(launch.points->hash());
  if (launch.single) {
    for (const Processor& processor : {launch.single->processor, launch.single->parent}) {
      mix(processor.kind);
      mix(processor.node);
      mix(processor.index);
    }
    mix(text(launch.single->parent_name));
  }
  return static_cast<std::size_t>(hash ^ (hash >> 32));
}

}  // namespace

const LaunchDomain* space_of_shards(const TaskView& task) {
  const LaunchDomain* space = task.sharding_space;
  if (space == nullptr || task.parent == nullptr || task.parent->shards < 2) return nullptr;
  const Rect &box = space->box, &domain = task.domain;
  if (box.dimensions() != domain.dimensions()) return nullptr;
  for (int d = 0; d < box.dimensions(); ++d) {
    if (domain.lower[d] < box.lower[d] ||
        domain.lower[d] + domain.extents[d] > box.lower[d] + box.extents[d]) {
      return nullptr;
    }
  }
  return space;
}

// Makes the cache key of a launch, with copies of the names to which the launch only refers.
LaunchKey::LaunchKey(const LaunchToPlace& launch)
    : function(launch.function), task(launch.task), domain(launch.domain), kind(launch.kind) {
  if (launch.points != nullptr) points = *launch.points;
  if (launch.single == nullptr) return;
  single = {launch.single->processor, launch.single->parent,
            std::string(launch.single->parent_name)};
}

std::size_t LaunchHash::operator()(const LaunchToPlace& launch) const { return hash_of(launch); }
std::size_t LaunchHash::operator()(const LaunchKey& key) const { return hash_of(key); }

// Returns the cached map of the launch, or makes and caches it. May be called by several threads at
// once. Returns null, with an error in `diags`, if the map cannot be made.
std::shared_ptr<const IndexMap> IndexMapCache::find_map(const LaunchToPlace& launch,
                                                        Diagnostics& diags) const {
  {
    const std::lock_guard lock(mutex_);
    if (const auto* known = maps_.find(launch)) return *known;
  }
  // The map is made without the lock. If two threads make the same map, the first one is kept.
  TaskPoint task;
  task.name = launch.task;
  task.domain = launch.domain;
  task.points = launch.points;
  if (launch.single != nullptr) {
    task.processor = launch.single->processor;
    task.parent = launch.single->parent;
    task.parent_name = launch.single->parent_name;
  }
  auto made = IndexMap::make(bound_, launch.function, task, launch.kind, diags);
  if (!made) {
    diags.report(DiagId::kBadMachine, std::nullopt, made.error().message);
    return nullptr;
  }
  const std::lock_guard lock(mutex_);
  if (const auto* known = maps_.find(launch)) return *known;
  return maps_.insert(LaunchKey(launch), *made);
}

// Returns the map and the cursor of a launch, and clears the errors of the question before. Most
// questions are about the same launch as the one before, so this launch is checked first.
LaunchCursor::MapAndCursor* LaunchCursor::open_map(const LaunchToPlace& launch) {
  if (!diags_.all().empty()) diags_.clear();
  if (last_ != nullptr && LaunchEqual()(launch, *last_key_)) {
    // The next question is about this set, which is then compared by its address.
    if (launch.points != nullptr) last_key_->points = *launch.points;
    return last_;
  }
  MapAndCursor* found = open_.find(launch);
  if (found == nullptr) {
    last_ = nullptr;  // Inserting a new entry may remove the entry to which `last_` points.
    auto map = maps_->find_map(launch, diags_);
    if (map == nullptr) return nullptr;
    found = &open_.insert(LaunchKey(launch),
                          MapAndCursor{map, IndexMap::Cursor(map, false, maps_->stop())});
  }
  last_ = found;
  last_key_.emplace(launch);
  return found;
}

// Returns the first error of the last question, or nothing. Warnings do not count.
std::optional<Diagnostic> LaunchCursor::last_error() const {
  for (const Diagnostic& diagnostic : diags_.all()) {
    if (diagnostic.severity == Severity::kError) return diagnostic;
  }
  return std::nullopt;
}

// Appends the processors of the point: one, or all of a set. Returns the error if the function
// fails there.
std::optional<Diagnostic> LaunchCursor::place_point(const LaunchToPlace& launch, const Point& point,
                                                    std::vector<Processor>& processors) {
  MapAndCursor* at = open_map(launch);
  if (at == nullptr) return last_error();
  const std::optional<Point> mapped = map_point(launch, point, diags_);
  const ProcessorNumber number = mapped ? at->cursor.point(*mapped, diags_) : kNoProcessor;
  if (number == kNoProcessor) return last_error();
  if (at->cursor.is_set(number)) {
    const PointTarget& placed = at->cursor.placed(number);
    processors.insert(processors.end(), placed.processors.begin(), placed.processors.end());
  } else {
    processors.push_back(at->map->processor(number));
  }
  return std::nullopt;
}

// Returns the first processor of a point. If the function returns a set, the set's first processor
// counts.
std::optional<Processor> LaunchCursor::first_processor(const LaunchToPlace& launch,
                                                       const Point& point) {
  MapAndCursor* at = open_map(launch);
  if (at == nullptr) return std::nullopt;
  const std::optional<Point> mapped = map_point(launch, point, diags_);
  const ProcessorNumber number = mapped ? at->cursor.point(*mapped, diags_) : kNoProcessor;
  if (number == kNoProcessor) return std::nullopt;
  return at->cursor.processor(number);
}

// Calls `slice` for each box of points that go to one processor. If the function returns a set, its
// first processor counts.
std::optional<Diagnostic> LaunchCursor::cut_slices(
    const LaunchToPlace& launch, const Rect& part,
    const std::function<void(const Rect&, const Processor&)>& slice) {
  MapAndCursor* at = open_map(launch);
  if (at == nullptr) return last_error();
  if (launch.points == nullptr) {
    const bool good = at->cursor.slices(
        part,
        [&](const Rect& box, ProcessorNumber number) { slice(box, at->cursor.processor(number)); },
        diags_);
    return good ? std::nullopt : last_error();
  }
  bool good = true;
  launch.points->for_each_run(part, [&](const Rect& run, std::int64_t rank) {
    const int last = run.dimensions() - 1;
    good = good && at->cursor.slices(
                       Rect{Point{rank}, Point{run.extents[last]}},
                       [&](const Rect& ranks, ProcessorNumber number) {
                         Rect box = run;
                         box.lower[last] += ranks.lower[0] - rank;
                         box.extents[last] = ranks.extents[0];
                         slice(box, at->cursor.processor(number));
                       },
                       diags_);
  });
  return good ? std::nullopt : last_error();
}

// Returns the slot in which this thread looks for a cursor first. It depends only on the thread, so
// the thread usually finds the cursor that it used before, which knows its launches.
std::size_t CursorPool::preferred_slot() {
  const std::uint64_t id = std::hash<std::thread::id>()(std::this_thread::get_id());
  return static_cast<std::size_t>((id * kSpread) >> 58);  // The upper 6 bits are less than kSlots.
}

}  // namespace groma::mapper
