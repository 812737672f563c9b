// Collects the events of a recorded run under a lock, with a limit for each kind, and writes them.
#include "legion/run_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iterator>
#include <utility>

#include "groma/recording.h"
#include "groma/source.h"
#include "groma/system.h"

namespace groma::legion {
namespace {

using app::Events;
using Runtime = Legion::Mapping::MapperRuntime;

constexpr std::ptrdiff_t kMaxDemands = 8;    // different demands of one requirement
constexpr std::size_t kMostTimes = 1024;     // run times kept for a task on a processor kind
constexpr std::size_t kMostPlaces = 65'536;  // places in the cache
// Argument bytes that are compared between launches.
constexpr std::size_t kMostArgumentBytes = 256;
constexpr std::size_t kMostContexts = std::size_t{1} << 17;
constexpr std::size_t kMostExpected = 65'536;  // limit for launches with unmapped tasks
constexpr std::size_t kMostIdle = 8192;        // contexts that have launched nothing
constexpr std::size_t kMostAlike = 4096;  // limit for kinds of launches with projection functors
constexpr std::size_t kMostPending = 16'384;  // of these launches, those with unmapped points
constexpr std::size_t kMostIssued = 4096;     // unmapped launches with a known launch time
constexpr std::size_t kMostCosts = 65'536;    // measured costs of the runtime
// Percentile of the measured times that counts as the runtime's own cost. Times that other work
// delays lie above it.
constexpr std::size_t kUndisturbed = 10;
constexpr std::size_t kMostLaunchBoxes = 1024;  // boxes of a launch over a domain with holes
constexpr std::int64_t kMostPoints = 1 << 16;   // points of a launch with projection functors
constexpr const char* kProgramsBefore = "Legion programs that ended before the last";

std::vector<std::int64_t> list(const Point& point) {
  return {point.coordinates().begin(), point.coordinates().end()};
}

// Returns the index of the point in row-major order (the last coordinate changes fastest).
std::size_t index_in(const Rect& domain, const Point& point) {
  std::int64_t index = 0;
  for (int d = 0; d < domain.dimensions(); ++d) {
    index = index * domain.extents[d] + point[d] - domain.lower[d];
  }
  return static_cast<std::size_t>(index);
}

// Returns the bounding box of two rectangles.
Rect around(const Rect& a, const Rect& b) {
  Rect both = a;
  for (int d = 0; d < a.dimensions(); ++d) {
    const std::int64_t end = std::max(a.lower[d] + a.extents[d], b.lower[d] + b.extents[d]);
    both.lower[d] = std::min(a.lower[d], b.lower[d]);
    both.extents[d] = end - both.lower[d];
  }
  return both;
}

}  // namespace

std::int64_t HookTimes::now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void RunEvents::enter() {
  const std::lock_guard lock(mutex_);
  ++recorders_;
}

void RunEvents::leave() {
  {
    const std::lock_guard lock(mutex_);
    if (--recorders_ > 0) return;
    if (!std::exchange(has_written_, true)) count_programs_before();
  }
  if (const auto error = write_file(file_, text())) {
    std::fprintf(stderr, "groma: not recorded: %s\n", error->message.c_str());
  }
}

// Only this run writes the file. If it already exists, another program wrote it.
void RunEvents::count_programs_before() {
  const auto before = read_file(file_, kMaxRecordedBytes);
  if (!before) return;
  count(kProgramsBefore);
  const auto events = app::events_from(*before);
  if (!events) return;
  for (const Events::Other& each : events->others) {
    if (each.what == kProgramsBefore) count(kProgramsBefore, each.count);
  }
}

void RunEvents::other(const char* what, std::int64_t times) {
  const std::lock_guard lock(mutex_);
  count(what, times);
}

// ---- Tasks and their data

Legion::UniqueID RunEvents::run_of(const Legion::Task& task) {
  if (task.get_total_shards() <= 1) return task.get_unique_id();
  const Legion::Task* const above = task.get_parent_task();
  const std::vector<std::int64_t> point =
      task.is_index_space ? list(point_of(task.index_point)) : std::vector<std::int64_t>();
  const std::tuple key{above == nullptr ? 0 : run_of(*above), task.get_context_index(), point,
                       task.task_id};
  const std::lock_guard lock(mutex_);
  const auto known = shards_.find(key);
  if (known != shards_.end()) return known->second;
  if (shards_.size() >= kMostContexts) return task.get_unique_id();
  return shards_[key] = task.get_unique_id();
}

std::optional<std::uint32_t> RunEvents::task_of(Runtime* runtime, MapperContext context,
                                                const Legion::Task& task) {
  {
    const std::lock_guard lock(mutex_);
    const auto known = tasks_.find(task.task_id);
    if (known != tasks_.end()) return known->second;
    if (events_.tasks.size() >= app::kMaxEventTasks) return std::nullopt;
  }
  RegionIds ids;
  TaskViews views(*machine_, &ids, 0, runtime);
  TaskView view;
  views.fill(context, task, {}, view);
  Events::Task made;
  made.name = view.name;
  for (const VariantView& each : view.variants) {
    made.variants.push_back({each.kind,
                             each.leaf,
                             each.inner,
                             each.replicable,
                             {each.demands.begin(), each.demands.end()}});
  }
  const std::lock_guard lock(mutex_);
  const auto known = tasks_.find(task.task_id);
  if (known != tasks_.end()) return known->second;
  const std::size_t number = events_.tasks.size();
  if (number >= app::kMaxEventTasks) return std::nullopt;
  for (std::size_t i = 0; i < view.variants.size(); ++i) {
    variants_[{task.task_id, view.variants[i].id}] = i;
  }
  events_.tasks.push_back(std::move(made));
  return tasks_[task.task_id] = static_cast<std::uint32_t>(number);
}

app::Events::Variant* RunEvents::variant_of(const Legion::Task& task, Legion::VariantID variant) {
  const auto number = tasks_.find(task.task_id);
  const auto at = variants_.find({task.task_id, variant});
  if (number == tasks_.end() || at == variants_.end()) return nullptr;
  return &events_.tasks[number->second].variants[at->second];
}

void RunEvents::chosen(const Legion::Task& task, Legion::VariantID variant) {
  const std::lock_guard lock(mutex_);
  Events::Variant* const known = variant_of(task, variant);
  if (known != nullptr) known->chosen_by_mapper = true;
}

void RunEvents::demanded(const Legion::Task& task, Legion::VariantID variant,
                         const LayoutDemand& demand) {
  LayoutDemand nothing;
  nothing.requirement = demand.requirement;
  nothing.source = demand.source;
  if (demand == nothing) return;
  const std::lock_guard lock(mutex_);
  Events::Variant* const known = variant_of(task, variant);
  if (known == nullptr) return;
  auto& demands = known->demands;
  if (std::find(demands.begin(), demands.end(), demand) != demands.end()) return;
  const auto same_place = [&](const LayoutDemand& one) {
    return one.requirement == demand.requirement && one.source == demand.source;
  };
  if (std::count_if(demands.begin(), demands.end(), same_place) < kMaxDemands) {
    demands.push_back(demand);
  }
}

std::optional<std::uint32_t> RunEvents::region_of(Runtime* runtime, MapperContext context,
                                                  Legion::LogicalRegion root) {
  {
    const std::lock_guard lock(mutex_);
    const auto known = regions_.find(root.get_tree_id());
    if (known != regions_.end()) return known->second;
    if (events_.regions.size() >= app::kMaxEventRegions) return std::nullopt;
  }
  Events::Region made;
  made.name = attached_name(runtime, context, root);
  const Legion::Domain domain = runtime->get_index_space_domain(context, root.get_index_space());
  made.bounds = rect_of(domain);
  if (!app::can_be_kept(made.bounds)) return std::nullopt;
  made.points = static_cast<std::int64_t>(domain.get_volume());
  std::vector<Legion::FieldID> ids;
  runtime->get_field_space_fields(context, root.get_field_space(), ids);
  std::sort(ids.begin(), ids.end());
  for (const Legion::FieldID id : ids) {
    std::string name(attached_name(runtime, context, root.get_field_space(), id));
    if (name.empty()) name = fmt::format("field_{}", id);
    made.fields.push_back({std::move(name), static_cast<std::int64_t>(runtime->get_field_size(
                                                context, root.get_field_space(), id))});
  }
  const std::lock_guard lock(mutex_);
  const auto known = regions_.find(root.get_tree_id());
  if (known != regions_.end()) return known->second;
  const std::size_t number = events_.regions.size();
  if (number >= app::kMaxEventRegions) return std::nullopt;
  fields_[static_cast<std::uint32_t>(number)] = std::move(ids);
  events_.regions.push_back(std::move(made));
  return regions_[root.get_tree_id()] = static_cast<std::uint32_t>(number);
}

std::optional<std::int32_t> RunEvents::partition_of(Runtime* runtime, MapperContext context,
                                                    Legion::LogicalPartition partition,
                                                    const Place& around_it) {
  {
    const std::lock_guard lock(mutex_);
    const auto known = partitions_.find(partition);
    if (known != partitions_.end()) return known->second;
  }
  const Legion::IndexPartition cut = partition.get_index_partition();
  const Legion::Color color = runtime->get_index_partition_color(context, cut);
  const std::string name(attached_name(runtime, context, partition));
  const Legion::Domain colors = runtime->get_index_partition_color_space(context, cut);
  Rect bounds = rect_of(colors);
  if (!app::can_be_kept(bounds)) return std::nullopt;
  if (around_it.colors.size() + static_cast<std::size_t>(bounds.dimensions()) > kMaxDimensions) {
    return std::nullopt;
  }
  const std::tuple key{around_it.region, around_it.partition, color, name};
  bool look = false;
  std::size_t room = 0;  // number of boxes that can still be kept
  {
    // Equal partitions of the pieces of one partition share their colours.
    const std::lock_guard lock(mutex_);
    const auto known = alike_partitions_.find(key);
    if (known != alike_partitions_.end()) {
      const Rect& first = events_.partitions[static_cast<std::size_t>(known->second)].colors;
      if (first.dimensions() != bounds.dimensions()) return std::nullopt;
      bounds.lower = first.lower;
    }
    look = pieces_ + colors.get_volume() <= app::kMaxEventPieces;
    room = app::kMaxEventBoxes - boxes_;
  }
  std::vector<Events::Piece> pieces;
  std::int64_t too_large = 0, too_many_boxes = 0;
  const auto add = [&](const Rect& box) {
    Point own = box.lower;
    do {
      const Legion::IndexSpace piece = runtime->get_index_subspace(context, cut, realm_point(own));
      const Legion::Domain domain = runtime->get_index_space_domain(context, piece);
      std::vector<std::int64_t> path = around_it.colors;
      for (int d = 0; d < own.dimensions(); ++d) path.push_back(own[d] - bounds.lower[d]);
      Events::Piece made{Point(path), rect_of(domain),
                         static_cast<std::int64_t>(domain.get_volume())};
      if (!app::can_be_kept(made.bounds)) {
        ++too_large;
        continue;
      }
      if (made.points > 0 && made.points < made.bounds.volume()) {
        for_each_box(domain, [&](const Rect& each) {
          if (made.boxes.size() <= room) made.boxes.push_back(each);
        });
        if (made.boxes.size() > room) {
          ++too_many_boxes;
          made.boxes.clear();
        }
        room -= made.boxes.size();
      }
      pieces.push_back(std::move(made));
    } while (next_point(box, &own));
  };
  if (look && colors.get_volume() > 0) for_each_box(colors, add);
  const std::lock_guard lock(mutex_);
  if (partitions_.contains(partition)) return partitions_[partition];
  if (!look) count("partitions with too many pieces to look at");
  if (too_large > 0) count("pieces that are too large", too_large);
  if (too_many_boxes > 0) count("holes of pieces, of which there are too many", too_many_boxes);
  const auto found = alike_partitions_.find(key);
  if (found == alike_partitions_.end() && events_.partitions.size() >= app::kMaxEventRegions) {
    return std::nullopt;
  }
  const auto number = found == alike_partitions_.end()
                          ? static_cast<std::int32_t>(events_.partitions.size())
                          : found->second;
  if (found == alike_partitions_.end()) {
    alike_partitions_[key] = number;
    events_.partitions.push_back({name, around_it.region, around_it.partition, bounds, {}});
  }
  Events::Partition& to = events_.partitions[static_cast<std::size_t>(number)];
  const Rect all = around(to.colors, rect_of(colors));
  if (!app::can_be_kept(all)) return std::nullopt;
  to.colors = all;
  pieces_ += pieces.size();
  for (Events::Piece& piece : pieces) {
    // Other threads may have added boxes meanwhile.
    if (piece.boxes.size() > app::kMaxEventBoxes - boxes_) {
      piece.boxes.clear();
      count("holes of pieces, of which there are too many");
    }
    boxes_ += piece.boxes.size();
    to.pieces.push_back(std::move(piece));
  }
  return partitions_[partition] = number;
}

std::optional<RunEvents::Place> RunEvents::place_of(Runtime* runtime, MapperContext context,
                                                    Legion::LogicalRegion region) {
  {
    const std::lock_guard lock(mutex_);
    const auto known = places_.find(region);
    if (known != places_.end()) return known->second;
  }
  std::optional<Place> place;
  if (!runtime->has_parent_logical_partition(context, region)) {
    const auto root = region_of(runtime, context, region);
    if (root) place = Place{*root, -1, {}};
  } else {
    const auto partition = runtime->get_parent_logical_partition(context, region);
    place = place_of(runtime, context, runtime->get_parent_logical_region(context, partition));
    const auto number = place ? partition_of(runtime, context, partition, *place) : std::nullopt;
    if (!number) return std::nullopt;
    place->partition = *number;
    const Point color = point_of(runtime->get_logical_region_color_point(context, region));
    const std::lock_guard lock(mutex_);
    const Rect& colors = events_.partitions[static_cast<std::size_t>(*number)].colors;
    if (colors.dimensions() != color.dimensions()) return std::nullopt;
    for (int d = 0; d < color.dimensions(); ++d) {
      place->colors.push_back(color[d] - colors.lower[d]);
    }
  }
  if (!place) return std::nullopt;
  const std::lock_guard lock(mutex_);
  if (places_.size() >= kMostPlaces) places_.clear();
  places_[region] = *place;
  return place;
}

// ---- Launches

std::optional<Events::Requirement> RunEvents::requirement_of(Runtime* runtime,
                                                             MapperContext context,
                                                             const Legion::Task& task,
                                                             std::size_t position,
                                                             Launched& launch) {
  const Legion::RegionRequirement& from = task.regions[position];
  const bool projects = task.is_index_space && from.handle_type != LEGION_SINGULAR_PROJECTION;
  const bool of_partition = projects && from.handle_type == LEGION_PARTITION_PROJECTION;
  if (!(of_partition ? from.partition.exists() : from.region.exists())) return std::nullopt;
  const auto above = place_of(
      runtime, context,
      of_partition ? runtime->get_parent_logical_region(context, from.partition) : from.region);
  if (!above) return std::nullopt;
  Events::Requirement to;
  to.region = above->region;
  // The task itself does not access the data, so no dependence follows from the requirement.
  to.privilege = from.is_no_access() ? Privilege::kNoAccess : privilege_of(from);
  to.coherence = coherence_of(from);
  if (to.privilege != Privilege::kNoAccess) {  // otherwise no instance is mapped
    const std::lock_guard lock(mutex_);
    const std::vector<Legion::FieldID>& ids = fields_[to.region];
    for (const Legion::FieldID id : from.privilege_fields) {
      const auto known = std::lower_bound(ids.begin(), ids.end(), id);
      if (known != ids.end() && *known == id) {
        to.fields.push_back(static_cast<std::uint32_t>(known - ids.begin()));
      }
    }
  }
  if (projects && from.projection != 0) {
    to.how = Events::How::kMapped;  // the points tell the partition
    launch.projected.push_back(launch.shape.requirements.size());
    return to;
  }
  launch.numbers.insert(launch.numbers.end(), above->colors.begin(), above->colors.end());
  to.partition = above->partition;
  if (of_partition) {
    const auto number = partition_of(runtime, context, from.partition, *above);
    if (!number) return std::nullopt;
    to.how = Events::How::kPoint;
    to.partition = *number;
  } else if (above->partition >= 0) {
    to.how = Events::How::kFixed;
  }
  return to;
}

void RunEvents::find_boxes(const Legion::Domain& domain, Launched& launch) {
  for_each_box(domain, [&](const Rect& box) {
    if (launch.boxes.size() <= kMostLaunchBoxes) launch.boxes.push_back(box);
  });
  if (launch.boxes.size() > kMostLaunchBoxes) {
    launch.boxes.clear();
    return other("launches over domains with too many holes, each over the box around its points");
  }
  launch.points = static_cast<std::int64_t>(domain.get_volume());
  other("launches over domains with holes, each as one launch for each box of its domain");
}

void RunEvents::launched(Runtime* runtime, MapperContext context, const Legion::Task& task) {
  const Legion::Task* parent = task.get_parent_task();
  // All shards of a replicated task make the same launches; only the first counts.
  if (parent != nullptr && parent->get_shard_id() != 0) return;
  const auto number = task_of(runtime, context, task);
  if (!number) return other("launches of tasks after those that are kept");
  Launched launch;
  launch.shape.task = *number;
  if (task.get_depth() == 0 || parent == nullptr) {
    const std::lock_guard lock(mutex_);
    return add_top_level(task, launch.shape.task);
  }
  if (task.is_index_space) {
    launch.domain = rect_of(task.index_domain);
    if (!app::can_be_kept(launch.domain) || launch.domain.volume() > app::kMaxEventPoints) {
      return other("launches over domains with too large numbers");
    }
    launch.points = launch.domain.volume();
    if (static_cast<std::size_t>(launch.points) != task.index_domain.get_volume()) {
      find_boxes(task.index_domain, launch);
    }
    launch.shape.dimensions = static_cast<std::uint32_t>(launch.domain.dimensions());
    launch.numbers = list(launch.domain.lower);
    const auto extents = launch.domain.extents.coordinates();
    launch.numbers.insert(launch.numbers.end(), extents.begin(), extents.end());
  }
  for (std::size_t r = 0; r < task.regions.size(); ++r) {
    auto requirement = requirement_of(runtime, context, task, r, launch);
    if (requirement) {
      launch.shape.requirements.push_back(*std::move(requirement));
    } else {
      other("regions of launches that could not be looked at");
    }
  }
  if (task.must_epoch_task) other("that tasks of must epochs need processors of their own");
  if (!task.output_regions.empty()) {
    other("output regions", static_cast<std::int64_t>(task.output_regions.size()));
  }
  if (!launch.projected.empty() && launch.domain.volume() > kMostPoints) {
    other("projections of launches with too many points, each as the whole region");
    for (const std::size_t r : launch.projected) {
      launch.shape.requirements[r].how = Events::How::kWhole;
    }
    launch.projected.clear();
  }
  const Legion::UniqueID run = run_of(*parent);
  {
    const std::lock_guard lock(mutex_);
    if (launched_ >= app::kMaxEventLaunches) return count("launches after those that are kept");
    if (!contexts_.contains(run) && contexts_.size() >= kMostContexts) {
      return count("launches by tasks after those that are kept");
    }
  }
  std::optional<Open> made;
  const auto is_new = [&] {
    const std::lock_guard lock(mutex_);
    return !contexts_.contains(run);
  };
  if (is_new()) {
    made = open_of(runtime, context, *parent);
    if (!made) return other("launches by tasks after those that are kept");
  }
  const std::lock_guard lock(mutex_);
  if (made && parent->get_depth() == 0) add_top_level(*parent, made->task);
  if (made) contexts_.try_emplace(run, *std::move(made));
  Open& open = contexts_[run];
  if (std::exchange(open.idle, false)) --idle_;
  keep({run, task.get_context_index()}, task, std::move(launch));
}

void RunEvents::expected(const Legion::Task& task) {
  const Legion::Task* const parent = task.get_parent_task();
  if (parent == nullptr || parent->get_shard_id() != 0) return;
  if (machine_->machine()->node_count() > 1) return;  // another process may map it
  const Key key{run_of(*parent), task.get_context_index()};
  const auto points =
      task.is_index_space ? static_cast<std::int64_t>(task.index_domain.get_volume()) : 1;
  const std::lock_guard lock(mutex_);
  if (!may_replay_ && expected_.size() < kMostExpected) expected_[key] += points;
}

void RunEvents::may_replay() {
  const std::lock_guard lock(mutex_);
  may_replay_ = true;
  expected_.clear();
}

void RunEvents::came(const Legion::Task& task) {
  const Legion::Task* const parent = task.get_parent_task();
  if (parent == nullptr) return;
  const Key key{run_of(*parent), task.get_context_index()};
  const std::lock_guard lock(mutex_);
  const auto found = expected_.find(key);
  if (found != expected_.end() && --found->second <= 0) expected_.erase(found);
}

// Returns the regions that the task itself has, so that its launches can be described relative to
// them.
std::optional<RunEvents::Open> RunEvents::open_of(Runtime* runtime, MapperContext context,
                                                  const Legion::Task& task) {
  const auto number = task_of(runtime, context, task);
  if (!number) return std::nullopt;
  Open open;
  open.task = *number;
  for (const Legion::RegionRequirement& each : task.regions) {
    open.places.push_back(each.region.exists() ? place_of(runtime, context, each.region)
                                               : std::optional<Place>());
  }
  const Legion::Task* const above = task.get_parent_task();
  if (above != nullptr) open.of = {run_of(*above), task.get_context_index()};
  if (task.is_index_space) open.point = point_of(task.index_point);
  return open;
}

void RunEvents::may_launch(Runtime* runtime, MapperContext context, const Legion::Task& task) {
  if (task.get_parent_task() == nullptr) return;
  const Legion::UniqueID run = run_of(task);
  const auto has_room = [&] {
    const std::lock_guard lock(mutex_);
    return idle_ < kMostIdle && contexts_.size() < kMostContexts && !contexts_.contains(run);
  };
  if (!has_room()) return;
  auto made = open_of(runtime, context, task);
  if (!made) return;
  made->idle = true;
  const std::lock_guard lock(mutex_);
  if (contexts_.try_emplace(run, *std::move(made)).second) ++idle_;
}

void RunEvents::add_top_level(const Legion::Task& task, std::uint32_t number) {
  events_.top_level = number;
  if (task.get_total_shards() > 1) return;  // the task was seen before its replication
  if (tops_.size() < kMostAlike && tops_.insert(task.get_unique_id()).second && tops_.size() > 1) {
    count("top-level tasks before the last, which alone stands there as one");
  }
}

void RunEvents::keep(Key key, const Legion::Task& task, Launched launch) {
  launched_ += std::max<std::size_t>(1, launch.boxes.size());
  if (launch.projected.empty()) return add_launches(key, numbers_of(launch));
  Events alone;
  alone.shapes = {launch.shape};
  std::string words = app::text_of(alone);
  if (task.args != nullptr) {
    words.append(static_cast<const char*>(task.args), std::min(task.arglen, kMostArgumentBytes));
  }
  std::vector<std::int64_t> numbers = launch.numbers;
  for (const Rect& box : launch.boxes) {
    for (const Point& corner : {box.lower, box.extents}) {
      numbers.insert(numbers.end(), corner.coordinates().begin(), corner.coordinates().end());
    }
  }
  std::shared_ptr<Alike>& alike = alike_[{std::move(words), std::move(numbers)}];
  const std::int64_t points = launch.points;
  if (alike == nullptr) alike = std::make_shared<Alike>(Alike{std::move(launch), {}, 0});
  alike->used = launched_;
  pending_[key] = {alike, points, {}};
  pending_order_.push_back(key);
  forget_old();
}

void RunEvents::add_launches(const Key& key, const std::vector<std::uint32_t>& numbers) {
  for (const std::uint32_t number : numbers) {
    contexts_[key.first].launches.emplace_back(key.second, number);
  }
}

void RunEvents::forget_old() {
  while (pending_order_.size() > kMostPending) {
    finish(pending_order_.front());
    pending_order_.pop_front();
  }
  if (alike_.size() <= kMostAlike) return;
  std::vector<std::uint64_t> used;
  for (const auto& [words, alike] : alike_) used.push_back(alike->used);
  const auto middle = used.begin() + static_cast<std::ptrdiff_t>(used.size() / 2);
  std::nth_element(used.begin(), middle, used.end());
  std::erase_if(alike_, [&](const auto& each) { return each.second->used < *middle; });
}

// Adds the pending launch with the regions that its points got, or with those of an equal launch.
void RunEvents::finish(const Key& key) {
  const auto found = pending_.find(key);
  if (found == pending_.end()) return;
  const Pending& pending = found->second;
  const bool replayed = pending.places.empty() && !pending.alike->seen.empty();
  add_launches(key, replayed ? pending.alike->seen : numbers_of(pending));
  pending_.erase(found);
}

void RunEvents::mapped(Runtime* runtime, MapperContext context, const Legion::Task& point) {
  const Legion::Task* parent = point.get_parent_task();
  if (parent == nullptr || !point.is_index_space) return;
  const Key key{run_of(*parent), point.get_context_index()};
  std::vector<std::size_t> wanted;
  {
    const std::lock_guard lock(mutex_);
    const auto found = pending_.find(key);
    if (found == pending_.end()) return;
    wanted = found->second.alike->launch.projected;
  }
  std::vector<std::optional<Place>> places;
  for (const std::size_t r : wanted) {
    const bool there = r < point.regions.size() && point.regions[r].region.exists();
    places.push_back(there ? place_of(runtime, context, point.regions[r].region) : std::nullopt);
  }
  const std::lock_guard lock(mutex_);
  const auto found = pending_.find(key);
  if (found == pending_.end()) return;
  Pending& pending = found->second;
  Alike& alike = *pending.alike;
  const Rect& domain = alike.launch.domain;
  const Point at = point_of(point.index_point);
  if (!domain.contains(at)) return;
  if (pending.places.empty()) {
    const std::vector<Place> unseen(static_cast<std::size_t>(domain.volume()),
                                    Place{kUnseen, -1, {}});
    pending.places.assign(places.size(), unseen);
  }
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i]) pending.places[i][index_in(domain, at)] = *places[i];
  }
  if (--pending.unseen > 0) return;
  alike.seen = numbers_of(pending);
  add_launches(key, alike.seen);
  pending_.erase(found);
}

std::vector<std::uint32_t> RunEvents::numbers_of(const Launched& launch) {
  return numbers_of(Pending{std::make_shared<Alike>(Alike{launch, {}, 0}), 0, {}});
}

// Tables come last in the numbers, because domains and therefore table sizes may differ.
std::vector<std::uint32_t> RunEvents::numbers_of(const Pending& pending) {
  const Launched& launch = pending.alike->launch;
  Events::Shape shape = launch.shape;
  std::vector<const Place*> seen;  // for each projected requirement: a place that was seen, or null
  for (std::size_t i = 0; i < launch.projected.size(); ++i) {
    Events::Requirement& of = shape.requirements[launch.projected[i]];
    of.how = Events::How::kWhole;
    seen.push_back(nullptr);
    if (i >= pending.places.size()) {
      count("projections of launches that were not seen");
      continue;
    }
    const std::vector<Place>& places = pending.places[i];
    const auto first = std::find_if(places.begin(), places.end(),
                                    [](const Place& place) { return place.region != kUnseen; });
    if (first == places.end() || first->partition < 0) continue;
    of.how = Events::How::kMapped;
    of.partition = first->partition;
    of.region = first->region;
    seen.back() = &*first;
  }
  const auto dimensions = static_cast<std::size_t>(launch.domain.dimensions());
  std::vector<Rect> boxes = launch.boxes;
  if (boxes.empty()) boxes.push_back(launch.domain);
  std::vector<std::uint32_t> made;
  for (const Rect& box : boxes) {
    std::vector<std::int64_t> numbers = launch.numbers;
    for (std::size_t d = 0; d < shape.dimensions; ++d) {
      numbers[d] = box.lower[static_cast<int>(d)];
      numbers[dimensions + d] = box.extents[static_cast<int>(d)];
    }
    for (std::size_t i = 0; i < seen.size(); ++i) {
      if (seen[i] == nullptr || box.volume() == 0) continue;
      Point point = box.lower;
      do {
        const Place& place = pending.places[i][index_in(launch.domain, point)];
        const bool like = place.partition == seen[i]->partition && place.region == seen[i]->region;
        if (!like && place.region != kUnseen) count("pieces that are of another partition");
        for (std::size_t d = 0; d < seen[i]->colors.size(); ++d) {
          numbers.push_back(like ? place.colors[d] : app::kNoNumber);
        }
      } while (next_point(box, &point));
    }
    if (const auto number = number_of(shape, std::move(numbers))) made.push_back(*number);
  }
  return made;
}

std::optional<std::uint32_t> RunEvents::number_of(Events::Shape of,
                                                  std::vector<std::int64_t> numbers) {
  Events alone;
  alone.shapes.push_back(std::move(of));
  const std::string words = app::text_of(alone);
  auto shape = shapes_.find(words);
  if (shape == shapes_.end()) {
    const std::size_t number = events_.shapes.size();
    if (number >= app::kMaxEventShapes) {
      count("launches of kinds after those that are kept");
      return std::nullopt;
    }
    shape = shapes_.emplace(words, static_cast<std::uint32_t>(number)).first;
    events_.shapes.push_back(std::move(alone.shapes[0]));
  }
  const auto [number, is_new] = launches_.try_emplace(
      {shape->second, numbers}, static_cast<std::uint32_t>(events_.launches.size()));
  if (!is_new) return number->second;
  if (numbers_ + numbers.size() > app::kMaxEventNumbers) {
    launches_.erase(number);
    // Another launch of this shape represents it.
    for (std::size_t i = events_.launches.size(); i-- > 0;) {
      if (events_.launches[i].shape != shape->second) continue;
      count("launches that are described by one like them, since too many differ");
      return static_cast<std::uint32_t>(i);
    }
    count("launches with numbers after those that are kept");
    return std::nullopt;
  }
  numbers_ += numbers.size();
  events_.launches.push_back({shape->second, std::move(numbers)});
  return number->second;
}

// ---- Times

bool RunEvents::wants_time(const Legion::Task& task) {
  const std::lock_guard lock(mutex_);
  const auto known = tasks_.find(task.task_id);
  const auto kind = kind_of(task.target_proc.kind());
  return known != tasks_.end() && kind &&
         ++measured_[{known->second, *kind}] <= static_cast<std::int64_t>(kMostTimes);
}

void RunEvents::took(const Legion::Task& task, Legion::Processor::Kind kind,
                     std::int64_t nanoseconds) {
  const std::lock_guard lock(mutex_);
  const auto known = tasks_.find(task.task_id);
  const auto of = kind_of(kind);
  if (known == tasks_.end() || !of) return;
  std::vector<std::int64_t>& times = times_[{known->second, *of}];
  if (times.size() < kMostTimes) times.push_back(nanoseconds);
}

// ---- The runtime's own costs

void RunEvents::issued(const Legion::Task& task, const HookTimes& times) {
  const Legion::Task* parent = task.get_parent_task();
  if (parent == nullptr) return;
  const std::lock_guard lock(mutex_);
  if (issued_at_.size() >= kMostIssued) issued_at_.clear();
  issued_at_[{parent->get_unique_id(), task.get_context_index()}] = times.end();
}

void RunEvents::called(std::int64_t nanoseconds) {
  const std::lock_guard lock(mutex_);
  // The first call is left out, because Legion initialises itself in it.
  if (!std::exchange(has_called_, true)) return;
  if (issue_costs_.size() < kMostCosts) issue_costs_.push_back(nanoseconds);
}

void RunEvents::mapped(const Legion::Task& task, const HookTimes& times) {
  const Legion::Task* parent = task.get_parent_task();
  if (parent == nullptr) return;
  const std::lock_guard lock(mutex_);
  const auto issued = issued_at_.find({parent->get_unique_id(), task.get_context_index()});
  if (issued != issued_at_.end() && map_costs_.size() < kMostCosts) {
    map_costs_.push_back(times.since(std::max(last_map_, issued->second)));
    if (!task.is_index_space) issued_at_.erase(issued);
  }
  last_map_ = HookTimes::now();
}

// ---- The end

Events::Cost RunEvents::quantile(std::vector<std::int64_t>& costs, std::size_t percent) {
  if (costs.empty()) return {};
  const auto at = costs.begin() + static_cast<std::ptrdiff_t>(costs.size() * percent / 100);
  std::nth_element(costs.begin(), at, costs.end());
  return {static_cast<std::int64_t>(costs.size()), *at};
}

std::string RunEvents::text() {
  const std::lock_guard lock(mutex_);
  return app::text_of(finished());
}

// The tasks of a must epoch share one number in their parent. The first of these with the regions
// of the run is taken.
std::int32_t RunEvents::shape_of(const Open& run, const Events& done) const {
  const auto above = contexts_.find(run.of.first);
  if (above == contexts_.end()) return -1;
  const auto& launches = above->second.launches;
  std::int32_t first = -1;
  for (auto of = std::lower_bound(launches.begin(), launches.end(),
                                  std::pair(run.of.second, std::uint32_t{0}));
       of != launches.end() && of->first == run.of.second; ++of) {
    const std::uint32_t number = done.launches[of->second].shape;
    const Events::Shape& shape = done.shapes[number];
    if (shape.task != run.task) continue;
    if (first < 0) first = static_cast<std::int32_t>(number);
    const bool is_it =
        std::equal(shape.requirements.begin(), shape.requirements.end(), run.places.begin(),
                   run.places.end(), [](const Events::Requirement& of_launch, const auto& place) {
                     return place && place->region == of_launch.region;
                   });
    if (is_it) return static_cast<std::int32_t>(number);
  }
  return first;
}

app::Events RunEvents::finished() {
  // No mapper here sees the points of replayed traces and of other processes.
  while (!pending_.empty()) finish(Key(pending_.begin()->first));
  pending_order_.clear();
  for (auto& [id, open] : contexts_) std::sort(open.launches.begin(), open.launches.end());
  Events done = events_;
  done.runtime = "Legion " LEGION_VERSION;
  using Same = std::tuple<std::uint32_t, std::int32_t, std::vector<std::int64_t>,
                          std::vector<std::uint32_t>>;
  std::map<Same, std::int64_t> contexts;
  std::set<std::uint32_t> launching;  // tasks that launch something
  for (const auto& [id, open] : contexts_) {
    if (!open.launches.empty()) launching.insert(open.task);
  }
  for (const auto& [id, open] : contexts_) {
    if (!launching.contains(open.task)) continue;
    Events::Context made;
    made.task = open.task;
    made.shape = shape_of(open, done);
    // The task's regions are useful only as far as its launch describes them.
    const std::vector<std::size_t> layout = done.layout_of(made);
    if (!layout.empty()) {
      if (open.point) made.given = list(*open.point);
      bool fits = made.given.size() == layout[0] && open.places.size() + 1 == layout.size();
      for (std::size_t r = 0; fits && r < open.places.size(); ++r) {
        if (layout[r + 1] == 0) continue;
        const auto& place = open.places[r];
        fits = place && layout[r + 1] == place->colors.size();
        if (!fits) break;
        made.given.insert(made.given.end(), place->colors.begin(), place->colors.end());
      }
      if (!fits) {
        made.shape = -1;
        made.given.clear();
      }
    }
    std::vector<std::uint32_t> launches;
    for (const auto& [index, number] : open.launches) launches.push_back(number);
    ++contexts[{made.task, made.shape, made.given, std::move(launches)}];
  }
  for (const auto& [alike, times] : contexts) {
    const auto& [task, shape, given, launches] = alike;
    done.contexts.push_back({task, shape, given, times, app::fold(launches)});
  }
  for (auto& [of, times] : times_) {
    const Events::Cost median = quantile(times, 50);
    done.times.push_back({of.first, of.second, median.count, median.nanoseconds});
  }
  done.issue = quantile(issue_costs_, kUndisturbed);
  done.map = quantile(map_costs_, kUndisturbed);
  std::int64_t did_not_run = 0;
  for (const auto& [key, tasks] : expected_) did_not_run += tasks;
  if (did_not_run > 0) {
    done.others.push_back(
        {"that tasks did not run since their predicates were false", did_not_run});
  }
  for (const auto& [what, times] : others_) done.others.push_back({what, times});
  return done;
}

}  // namespace groma::legion
