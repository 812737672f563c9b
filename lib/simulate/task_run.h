// TaskRun and LaunchingTask: the tasks of a run, from their launch to their end.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "app/data.h"
#include "app/pieces.h"
#include "base/boxes.h"
#include "groma/geometry.h"
#include "groma/mapper_output.h"
#include "groma/run_record.h"
#include "groma/sharding.h"
#include "groma/task_view.h"
#include "simulate/arena.h"
#include "simulate/instance.h"
#include "simulate/launch_plan.h"
#include "simulate/launch_window.h"
#include "simulate/machine_index.h"
#include "simulate/op_graph.h"
#include "simulate/spaces.h"

namespace groma::sim {

struct LaunchingTask;

// The last recorded event that a launching task had to wait for; any delay after it came from the
// runtime alone. `event` is the number of the event in the record of the run (-1: none). The task
// could go on from the beginning of the event if `start` is true, otherwise from its end.
struct LastAwaitedEvent {
  std::int64_t event = -1;
  bool start = false;
};

// The common data of the tasks of one launch.
struct LaunchRun {
  // The number of the launch within the run, counted from 1.
  std::uint32_t number = 0;
  // The launch domain of an index launch.
  LaunchDomain domain;
  RunTime created = 0;
  bool valid_instances = false;
  // The number of tasks of the launch that are not complete.
  std::int64_t unfinished = 0;
  // How this launch statement was mapped at an earlier launch. Null: no plan is kept for it.
  CachedLaunchMapping* plan = nullptr;
  // The number of the launch in the window of the launching task.
  std::int64_t in_window = 0;
};

// A task, or a point of an index launch, from its launch to its end. Objects are small, since
// millions of them may wait. An arena of the run holds the memory of the lists.
struct TaskRun {
  // The launch statement. Null: the top-level task, which has no LaunchRun.
  const app::Launch* launch = nullptr;
  LaunchRun* of = nullptr;
  // The context of the task that launched this task. Null: the top-level task.
  LaunchingTask* parent = nullptr;
  ArenaList<std::int64_t> arguments;
  // For each requirement: the data that it uses. Null: the application does not describe the data.
  ArenaList<const Piece*> pieces;
  // For each requirement: its instance, or kVirtual for none.
  ArenaList<InstanceNumber> instances;
  // The processor on which the task is held until it is mapped; after the mapping, the processor on
  // which it runs.
  const Processor* processor = nullptr;
  const app::Variant* variant = nullptr;
  // The state of the body of the task. Set while the task launches other tasks or waits for them.
  std::unique_ptr<LaunchingTask> context;
  struct Times {
    // The time at which the mapping of the task begins. Before that time is known, the value is the
    // earliest possible time.
    RunTime mapping = 0;
    RunTime mapped = 0, ready = 0, start = 0;
  } times;
  // The numbers of two events in the record of the run: the event that the task waited for last,
  // and the task itself. -1: none.
  struct Records {
    std::int64_t cause = -1, own = -1;
  } records;
  // The number of the processor. -1: there is none yet.
  std::int32_t number = -1;
  // For a task of an index launch: the row-major position of its point in the box of the launch
  // domain.
  std::uint32_t place = 0;
  std::uint32_t task = 0;
  // The variant with which the task is replicated. 0: the task is not replicated.
  VariantId shard_variant = 0;
  Op op = kBeginning;
  // A bit mask of kinds of memory: those whose bandwidth the task uses while it runs.
  std::uint16_t streams = 0;
  PriorityAndProfiling choices;
  // True if the task may be stolen while it waits to be mapped.
  bool stealable = false;
  // True if the task itself has ended. Tasks that it launched may still run.
  bool ended = false;

  // Assigns the task to the processor with this number.
  void hold_on(const Processors& processors, std::int32_t its_number) {
    processor = &processors[its_number];
    number = its_number;
  }
  void hold_on(const Processors& processors, const Processor& at) {
    hold_on(processors, processors.number_of(at));
  }

  // Prepares the object for another task. Resets those members that are not always set for a new
  // task, and keeps the memory of the lists.
  void clear() {
    parent = nullptr;
    launch = nullptr;
    of = nullptr;
    ended = false;
    records = {};
    choices.priority = 0;
    shard_variant = 0;
    arguments.clear();
    pieces.clear();
    instances.clear();
  }
};

// The state of a task while it launches other tasks.
struct LaunchingTask {
  TaskRun* run = nullptr;
  // The view of the task, which mappers see as the parent of its launches.
  TaskView view;
  std::vector<RequirementView> requirements;
  std::vector<std::int64_t> frame;
  // The shards of the task. More than one: the task is replicated.
  ShardTable shards;
  // The ops of the task and of all its ancestors.
  std::vector<Op> ancestors;

  // A position in a task body. There are nested bodies: the body of the task, and the bodies of
  // loops and phases inside it. `places` has one position for each body that is being executed, the
  // innermost last; `next` is the index of the next statement of that body.
  struct BodyPosition {
    const app::Body* body = nullptr;
    std::size_t next = 0;
    const app::Loop* loop = nullptr;
    std::int64_t iteration = 0, count = 0;
    int phase = -1;
    RunTime phase_start = 0;
  };
  std::vector<BodyPosition> places;
  // The time at which the task executes its present statement. It is before the time of the run if
  // SteadyLoop has held the task back.
  RunTime now = 0;
  // True while a task that was held back executes the statements whose time has passed.
  bool catches_up = false;
  // The number of traced loops around the present statement whose first iteration is over, so that
  // Legion would replay the trace.
  int replaying = 0;
  // For each launch statement in a loop: how its launch was mapped.
  std::map<const app::Launch*, std::unique_ptr<CachedLaunchMapping>> plans;
  std::vector<Op> futures;

  // The memory of this context at the beginning of the body, including what it refers to, in bytes.
  std::int64_t bytes = 0;
  // The number of launched tasks that are not finished.
  std::int64_t outstanding = 0;
  // The launches of this task that are in flight.
  LaunchWindow window;
  // The number of launched tasks of which the task itself or something that it launches is not
  // mapped yet.
  std::int64_t unmapped = 0;
  // True if all launches of the body were issued.
  bool issued = false;
  // True if the context of the parent task was told that this task and everything that it launches
  // is mapped.
  bool told = false;
  // The launches of this body whose tasks launch tasks themselves. Each comes with the number of
  // its tasks that are not mapped together with everything that they launch.
  std::vector<std::pair<const app::Launch*, std::int64_t>> inner;
  // The number of tasks that the present launch statement has launched and that are not mapped yet.
  std::int64_t mapping = 0;
  RunTime stage_end = 0;
  LastAwaitedEvent since;
  // The number of an event in the record of the run: the one that ended last among the task itself
  // and the tasks that it launched. -1: none has ended.
  std::int64_t last_over = -1;
  // What the body of the task waits for before it goes on.
  struct BodyWait {
    enum class WaitReason : std::uint8_t {
      kNothing,
      kAll,
      kFuture,
      kConflict,
      kMapping,
      kWindow,
      // The task is held back by SteadyLoop.
      kHeld
    } what = WaitReason::kNothing;
    // For kFuture: the op of the future that the task waits for.
    Op future = kBeginning;
  } wait;
};

// Returns the point of a task in its launch domain. A single task has the point of the task that
// launched it.
inline Point point_of(const TaskRun& run) {
  const TaskRun* at = &run;
  while (at->launch != nullptr && !at->launch->is_index) at = at->parent->run;
  return at->launch == nullptr ? Point() : point_at(at->of->domain.box, at->place);
}

// Returns the region or partition to which requirement `position` of the task refers.
inline const app::RequirementData& data_of_requirement(const app::Data& data, const TaskRun& run,
                                                       std::size_t position) {
  return app::data_of_requirement(data.tasks[run.task], run.launch, position);
}

// Returns the object in which the plan of the task is kept, or null if no plans are kept for its
// launch. It may hold a plan that was made for a task of an earlier launch at the same point.
inline CachedTaskMapping* plan_of(const TaskRun& run) {
  if (run.of == nullptr || run.of->plan == nullptr) return nullptr;
  return &run.of->plan->tasks[run.launch->is_index ? run.place : 0];
}

// Returns whether the plan was made for a task with the same pieces as this task.
inline bool has_same_pieces(const CachedTaskMapping& plan, const TaskRun& run) {
  return std::equal(plan.pieces.begin(), plan.pieces.end(), run.pieces.begin(), run.pieces.end());
}

// Returns a bit mask of the field groups that requirement `position` of a task of the launch uses.
// If `launch` is null, the task is the top-level task.
inline std::uint64_t field_groups_of(const DataSpaces& spaces, const app::Launch* launch,
                                     std::size_t position) {
  return launch == nullptr ? spaces.field_groups_of_top_level(position)
                           : spaces.groups(launch->number, position);
}
inline std::uint64_t field_groups_of(const DataSpaces& spaces, const TaskRun& run,
                                     std::size_t position) {
  return field_groups_of(spaces, run.launch, position);
}

// Returns whether the task launches other tasks. Its variant must be chosen.
inline bool launches_tasks(const app::Data& data, const TaskRun& run) {
  return !run.variant->leaf && !data.tasks[run.task].body.empty();
}

}  // namespace groma::sim
