// Describes each launch by what Legion tells about it, passes the description to the objects that
// collect events, and writes the recording.
#include "legion/run_events.h"

#include <cstdio>
#include <utility>
#include <vector>

#include "groma/app.h"
#include "groma/recording.h"
#include "groma/source.h"
#include "groma/system.h"

namespace groma::legion {
namespace {

using app::Events;
using Runtime = Legion::Mapping::MapperRuntime;

// The largest number of top-level tasks that are distinguished.
constexpr std::size_t kMaxTopLevel = 4096;
// The largest number of boxes as which a launch over a domain with holes is recorded.
constexpr std::size_t kMaxLaunchBoxes = 1024;
// The largest number of points of a recorded launch with projection functors.
constexpr std::int64_t kMaxPoints = 1 << 16;
constexpr const char* kProgramsBefore = "Legion programs that ended before the last";

}  // namespace

void RunEvents::on_mapper_start() {
  const std::lock_guard lock(mutex_);
  ++recorders_;
}

// Called when a recorder ends. The last one writes the file, without the lock, since other threads
// may still note something.
void RunEvents::on_mapper_end() {
  {
    const std::lock_guard lock(mutex_);
    if (--recorders_ > 0) return;
    if (!std::exchange(has_written_, true)) count_replaced_recordings();
  }
  if (const auto error = write_file(file_, text())) {
    std::fprintf(stderr, "groma: not recorded: %s\n", error->message.c_str());
  }
}

// Counts the earlier programs of this run. One command may start several Legion programs in turn,
// which all write the same file. If the file exists already, an earlier program wrote it.
void RunEvents::count_replaced_recordings() {
  const auto before = read_file(file_, kMaxRecordedBytes);
  if (!before) return;
  count_omitted(kProgramsBefore);
  const auto events = app::parse_events(*before);
  if (!events) return;
  for (const Events::CountedOperations& each : events->undescribed_operations) {
    if (each.what == kProgramsBefore) count_omitted(kProgramsBefore, each.count);
  }
}

// ---- Launches of tasks

// Describes one region requirement of a launch. Appends to the launch's numbers the colours that
// lead to the requirement's region. If a projection functor decides the regions, only the points
// know them, so the requirement is added to `projected`. Returns nothing if the region does not
// exist or cannot be recorded.
std::optional<Events::Requirement> RunEvents::requirement_of(Runtime* runtime,
                                                             MapperContext context,
                                                             const Legion::Task& task,
                                                             std::size_t position,
                                                             LaunchFacts& launch) {
  const Legion::RegionRequirement& from = task.regions[position];
  const bool projects = task.is_index_space && from.handle_type != LEGION_SINGULAR_PROJECTION;
  const bool of_partition = projects && from.handle_type == LEGION_PARTITION_PROJECTION;
  if (!(of_partition ? from.partition.exists() : from.region.exists())) return std::nullopt;
  const auto above = regions_.place_of(
      runtime, context,
      of_partition ? runtime->get_parent_logical_region(context, from.partition) : from.region);
  if (!above) return std::nullopt;
  Events::Requirement to;
  to.region = above->region;
  // The task itself does not access the data, so no dependence follows from the requirement.
  to.privilege = from.is_no_access() ? Privilege::kNoAccess : privilege_of(from);
  to.coherence = coherence_of(from);
  // Without access, no instance is mapped.
  if (to.privilege != Privilege::kNoAccess) {
    to.fields = regions_.fields_of(to.region, from.privilege_fields);
  }
  if (projects && from.projection != 0) {
    // The points of the launch will tell from which partition their regions come.
    to.color_rule = Events::ColorRule::kMapped;
    launch.projected.push_back(launch.shape.requirements.size());
    return to;
  }
  launch.numbers.insert(launch.numbers.end(), above->colors.begin(), above->colors.end());
  to.partition = above->partition;
  if (of_partition) {
    const auto number = regions_.partition_of(runtime, context, from.partition, *above);
    if (!number) return std::nullopt;
    to.color_rule = Events::ColorRule::kPoint;
    to.partition = *number;
  } else if (above->partition >= 0) {
    to.color_rule = Events::ColorRule::kFixed;
  }
  return to;
}

// Finds the boxes of a launch domain with holes.
void RunEvents::find_boxes(const Legion::Domain& domain, LaunchFacts& launch) {
  const bool fits_condition = launch.domain.volume() <= kMaxConditionPoints;
  const std::size_t most = fits_condition ? kMaxConditionPoints : kMaxLaunchBoxes;
  for_each_box(domain, [&](const Rect& box) {
    if (box.volume() > 0 && launch.boxes.size() <= most) launch.boxes.push_back(box);
  });
  if (launch.boxes.size() > most) {
    launch.boxes.clear();
    return count_omitted(
        "launches over domains with too many holes, each over the box around its points");
  }
  launch.points = static_cast<std::int64_t>(domain.get_volume());
}

// Describes the domain and number of points of a launch. The numbers of a launch begin with the
// lower corner and the extents of its domain (Events::Launch).
bool RunEvents::describe_domain(const Legion::Domain& domain, LaunchFacts& launch) {
  const Rect box = rect_of(domain);
  if (!app::is_within_event_limits(box) || box.volume() > app::kMaxEventPoints) return false;
  launch.domain = box;
  launch.points = box.volume();
  if (static_cast<std::size_t>(launch.points) != domain.get_volume()) find_boxes(domain, launch);
  launch.shape.dimensions = static_cast<std::uint32_t>(box.dimensions());
  for (const Point& corner : {box.lower, box.extents}) {
    launch.numbers.insert(launch.numbers.end(), corner.coordinates().begin(),
                          corner.coordinates().end());
  }
  return true;
}

// Describes a launch. Counts what the description leaves out, under a name for each reason, so that
// the recording can tell it. Returns nothing if the domain cannot be recorded.
std::optional<LaunchFacts> RunEvents::describe(Runtime* runtime, MapperContext context,
                                               const Legion::Task& task, std::uint32_t number) {
  LaunchFacts launch;
  launch.shape.task = number;
  if (task.is_index_space && !describe_domain(task.index_domain, launch)) {
    count_omitted("launches over domains with too large numbers");
    return std::nullopt;
  }
  for (std::size_t r = 0; r < task.regions.size(); ++r) {
    auto requirement = requirement_of(runtime, context, task, r, launch);
    if (requirement) {
      launch.shape.requirements.push_back(*std::move(requirement));
    } else {
      count_omitted("regions of launches that could not be looked at");
    }
  }
  if (task.must_epoch_task) count_omitted("that tasks of must epochs need processors of their own");
  if (!task.output_regions.empty()) {
    count_omitted("output regions", static_cast<std::int64_t>(task.output_regions.size()));
  }
  // The launch has too many points to record the region of each point. Requirements with projection
  // functors are recorded as the whole region.
  if (!launch.projected.empty() && launch.domain.volume() > kMaxPoints) {
    count_omitted("projections of launches with too many points, each as the whole region");
    for (const std::size_t r : launch.projected) {
      launch.shape.requirements[r].color_rule = Events::ColorRule::kWhole;
    }
    launch.projected.clear();
  }
  return launch;
}

// Records a launch: asks Legion about the launch and about the task that makes it, then adds both
// under the lock. Another thread may have added the same run in between; contexts_.add() ignores a
// known run.
void RunEvents::launched(Runtime* runtime, MapperContext context, const Legion::Task& task) {
  const Legion::Task* const parent = task.get_parent_task();
  // All shards of a replicated task make the same launches; only the first counts.
  if (parent != nullptr && parent->get_shard_id() != 0) return;
  const bool is_top_level = task.get_depth() == 0 || parent == nullptr;
  if (is_outside_block_ && !is_top_level) return;
  const auto number = tasks_.number_of(runtime, context, task);
  if (!number) return count_omitted("launches of tasks after those that are kept");
  if (is_top_level) {
    const std::lock_guard lock(mutex_);
    return add_top_level(task, *number);
  }
  auto launch = describe(runtime, context, task, *number);
  if (!launch) return;
  constexpr const char* kTooManyRuns = "launches by tasks after those that are kept";
  const TaskRun run = runs_.run_of(*parent);
  bool is_known = false;
  {
    const std::lock_guard lock(mutex_);
    if (launches_.is_full()) return count_omitted("launches after those that are kept");
    is_known = contexts_.contains(run);
    if (!is_known && contexts_.is_full()) return count_omitted(kTooManyRuns);
  }
  std::optional<LaunchingTaskRun> made;
  if (!is_known) {
    made = context_of(runtime, context, *parent);
    if (!made) return count_omitted(kTooManyRuns);
  }
  const std::lock_guard lock(mutex_);
  if (made && parent->get_depth() == 0) add_top_level(*parent, made->task);
  if (made) contexts_.add(run, *std::move(made), false);
  contexts_.mark_launching(run);
  launches_.add({run, task.get_context_index()}, task, *std::move(launch));
}

// Notes the regions that a projection functor gave to a mapped point. Legion is asked only if the
// launch still needs these regions.
void RunEvents::mapped(Runtime* runtime, MapperContext context, const Legion::Task& point) {
  if (!point.is_index_space) return;
  const auto key = runs_.launch_of(point);
  if (!key) return;
  std::vector<std::size_t> wanted;
  {
    const std::lock_guard lock(mutex_);
    wanted = launches_.unresolved_requirements(*key);
  }
  if (wanted.empty()) return;
  std::vector<std::optional<RecordedRegionPath>> places;
  for (const std::size_t r : wanted) {
    const bool there = r < point.regions.size() && point.regions[r].region.exists();
    places.push_back(there ? regions_.place_of(runtime, context, point.regions[r].region)
                           : std::nullopt);
  }
  const std::lock_guard lock(mutex_);
  launches_.add_point_regions(*key, point_of(point.index_point), places);
}

// Counts the tasks of the launch as tasks that will be mapped. All shards of a replicated task make
// the same launch; only that of the first shard counts.
void RunEvents::expected(const Legion::Task& task) {
  const Legion::Task* const parent = task.get_parent_task();
  if (parent == nullptr || parent->get_shard_id() != 0 || is_outside_block_) return;
  // With several nodes, another process may map the task, which this process would not see.
  if (machine_->machine()->node_count() > 1) return;
  const auto points =
      task.is_index_space ? static_cast<std::int64_t>(task.index_domain.get_volume()) : 1;
  expected_.add(*runs_.launch_of(task), points);
}

void RunEvents::task_was_mapped(const Legion::Task& task) {
  if (const auto launch = runs_.launch_of(task)) expected_.task_mapped(*launch);
}

// ---- Runs of tasks that launch something

// Describes a run of a task by its launch, point and regions. The launches that the run makes are
// described relative to these regions.
std::optional<LaunchingTaskRun> RunEvents::context_of(Runtime* runtime, MapperContext context,
                                                      const Legion::Task& task) {
  const auto number = tasks_.number_of(runtime, context, task);
  if (!number) return std::nullopt;
  LaunchingTaskRun made;
  made.task = *number;
  made.launch = runs_.launch_of(task);
  if (task.is_index_space) made.point = point_of(task.index_point);
  for (const Legion::RegionRequirement& each : task.regions) {
    made.places.push_back(each.region.exists() ? regions_.place_of(runtime, context, each.region)
                                               : std::nullopt);
  }
  return made;
}

// Adds the run of a task that has launched nothing yet. If it never does, it is recorded too, as
// long as other runs of its task launch something.
void RunEvents::may_launch(Runtime* runtime, MapperContext context, const Legion::Task& task) {
  if (task.get_parent_task() == nullptr || is_outside_block_) return;
  const TaskRun run = runs_.run_of(task);
  {
    const std::lock_guard lock(mutex_);
    if (!contexts_.has_room_for_idle() || contexts_.contains(run)) return;
  }
  auto made = context_of(runtime, context, task);
  if (!made) return;
  const std::lock_guard lock(mutex_);
  contexts_.add(run, *std::move(made), true);
}

// Notes a top-level task. The last one counts as the top-level task of the application; earlier
// ones are only counted.
void RunEvents::add_top_level(const Legion::Task& task, std::uint32_t number) {
  top_level_ = number;
  // A task with several shards was counted before it was replicated.
  if (task.get_total_shards() > 1) return;
  if (tops_.size() < kMaxTopLevel && tops_.insert(task.get_unique_id()).second &&
      tops_.size() > 1) {
    count_omitted("top-level tasks before the last, which alone stands there as one");
  }
}

// ---- The recording at the end of the run

std::string RunEvents::text() {
  const std::lock_guard lock(mutex_);
  return app::text_of(finished());
}

// Returns the whole recording.
Events RunEvents::finished() {
  // Some launches are still pending, because no mapper of this process sees the points of replayed
  // traces or of other processes.
  launches_.finish();
  Events done;
  done.runtime = "Legion " LEGION_VERSION;
  done.top_level = top_level_;
  launches_.add_to(done);
  tasks_.add_to(done);
  regions_.add_to(done);
  contexts_.add_to(done, launches_);
  costs_.add_to(done);
  expected_.add_to(done);
  for (const auto& [what, times] : not_recorded_.counts())
    done.undescribed_operations.push_back({what, times});
  return done;
}

}  // namespace groma::legion
