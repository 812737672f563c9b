// TaskRun and Context: the tasks of a run, from their launch to their end.
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
#include "groma/geometry.h"
#include "groma/run_record.h"
#include "groma/sharding.h"
#include "groma/task_view.h"
#include "groma/wish.h"
#include "simulate/arena.h"
#include "simulate/instance.h"
#include "simulate/launch_plan.h"
#include "simulate/machine_index.h"
#include "simulate/ops.h"
#include "simulate/spaces.h"

namespace groma::sim {

struct Context;

// The moment since when only the runtime delayed a launching task: the end (or start) of an event.
struct Since {
  std::int64_t event = -1;
  bool start = false;
};

// The common data of the tasks of one launch.
struct LaunchRun {
  std::uint32_t number = 0;  // number within the run, from 1
  Rect domain;               // for an index launch
  RunTime created = 0;
  bool valid_instances = false;
  std::int64_t unfinished = 0;  // number of its tasks that are not complete
  LaunchPlan* plan = nullptr;   // how the statement was mapped before; null: not kept
};

// A task, or a point of a launch, from its launch to its end. It is kept small, since millions of
// them may wait. An arena of the run holds the memory of its lists.
struct TaskRun {
  const app::Launch* launch = nullptr;  // null: the top-level task, which has no LaunchRun
  LaunchRun* of = nullptr;
  Context* parent = nullptr;  // the task that launched it
  Few<std::int64_t> arguments;
  Few<const Piece*> pieces;              // for each requirement; null: not described
  Few<InstanceNumber> instances;         // for each requirement
  const Processor* processor = nullptr;  // where the task is held, and later where it runs
  const app::Variant* variant = nullptr;
  std::unique_ptr<Context> context;  // set while it launches tasks or waits for them
  struct Times {
    RunTime mapping = 0;  // start of its mapping; a lower bound until that is known
    RunTime mapped = 0, ready = 0, start = 0;
  } times;
  // The record of the event that it waited for last, and its own record. -1: none.
  struct Records {
    std::int64_t cause = -1, own = -1;
  } records;
  std::int32_t number = -1;  // number of the processor
  // For a point of an index launch: the row-major position of the point in the launch's domain.
  std::uint32_t place = 0;
  std::uint32_t task = 0;
  VariantId shard_variant = 0;  // the task is replicated with this variant; 0: not replicated
  Op op = kBeginning;
  // One bit for each kind of memory near its processor on which it works.
  std::uint16_t streams = 0;
  TaskWishes wishes;
  bool stealable = false;  // while it waits to be mapped
  bool ended = false;      // the task itself has ended; tasks that it launched may still run

  // Holds the task on the processor with that number.
  void hold_on(const Processors& processors, std::int32_t its_number) {
    processor = &processors[its_number];
    number = its_number;
  }
  void hold_on(const Processors& processors, const Processor& at) {
    hold_on(processors, processors.number_of(at));
  }

  // Prepares the object for another task. Resets the fields that the next user does not set itself,
  // and keeps the memory of the lists.
  void clear() {
    parent = nullptr;
    launch = nullptr;
    of = nullptr;
    ended = false;
    records = {};
    wishes.priority = 0;
    shard_variant = 0;
    arguments.clear();
    pieces.clear();
    instances.clear();
  }
};

// A task while it launches other tasks.
struct Context {
  TaskRun* run = nullptr;
  TaskView view;  // the view of `run`, for its launches
  std::vector<RequirementView> requirements;
  std::vector<std::int64_t> frame;
  ShardTable shards;          // more than one: the task is replicated
  std::vector<Op> ancestors;  // ops of the task and of its ancestors

  // The current position: bodies within bodies.
  struct Place {
    const app::Body* body = nullptr;
    std::size_t next = 0;
    const app::Loop* loop = nullptr;
    std::int64_t iteration = 0, count = 0;
    int phase = -1;
    RunTime phase_start = 0;
  };
  std::vector<Place> places;
  int replaying = 0;  // enclosing traced loops that are past their first iteration
  // For launch statements in loops: how they were mapped.
  std::map<const app::Launch*, std::unique_ptr<LaunchPlan>> plans;
  std::vector<Op> futures;

  std::int64_t bytes = 0;        // memory of the context, with what it refers to, at its beginning
  std::int64_t outstanding = 0;  // launched tasks that are not finished
  // Launched tasks that are not mapped together with everything that they launch.
  std::int64_t unmapped = 0;
  bool issued = false;  // all launches were issued
  bool told = false;    // the parent was told that everything is mapped
  // Launches of tasks that launch tasks themselves and are not completely mapped.
  std::vector<std::pair<const app::Launch*, std::int64_t>> inner;
  std::int64_t mapping = 0;  // tasks of the current launch that are not mapped yet
  RunTime stage_end = 0;
  Since since;
  // Record of the last event that ended: the task itself or a task that it launched.
  std::int64_t last_over = -1;
  // The condition on which the task waits before its body goes on.
  struct Wait {
    enum class For : std::uint8_t {
      kNothing,
      kAll,
      kFuture,
      kConflict,
      kMapping
    } what = For::kNothing;
    Op future = kBeginning;  // kFuture: the op that gives the future
  } wait;
};

// Returns the point of the task. A single task has the point of the task that launched it.
inline Point point_of(const TaskRun& run) {
  const TaskRun* at = &run;
  while (at->launch != nullptr && !at->launch->is_index) at = at->parent->run;
  return at->launch == nullptr ? Point() : app::point_at(at->of->domain, at->place);
}

// Returns what requirement `position` of the task refers to.
inline const app::RequirementData& data_of_requirement(const app::Data& data, const TaskRun& run,
                                                       std::size_t position) {
  return app::data_of_requirement(data.tasks[run.task], run.launch, position);
}

// Returns the place for the plan of the task, or null if no plans of its launch are kept. The plan
// there may be about another task with the same point.
inline TaskPlan* plan_of(const TaskRun& run) {
  if (run.of == nullptr || run.of->plan == nullptr) return nullptr;
  return &run.of->plan->tasks[run.launch->is_index ? run.place : 0];
}

// Returns whether the plan is about a task with the same pieces.
inline bool has_pieces_of(const TaskPlan& plan, const TaskRun& run) {
  return std::equal(plan.pieces.begin(), plan.pieces.end(), run.pieces.begin(), run.pieces.end());
}

// Returns the field groups that requirement `position` of a task of the launch uses. Null: of the
// top-level task.
inline std::uint64_t groups_of(const Spaces& spaces, const app::Launch* launch,
                               std::size_t position) {
  return launch == nullptr ? spaces.groups_of_top_level(position)
                           : spaces.groups(launch->number, position);
}
inline std::uint64_t groups_of(const Spaces& spaces, const TaskRun& run, std::size_t position) {
  return groups_of(spaces, run.launch, position);
}

// Returns whether the task launches other tasks. Its variant must be chosen.
inline bool launches_tasks(const app::Data& data, const TaskRun& run) {
  return !run.variant->leaf && !data.tasks[run.task].body.empty();
}

}  // namespace groma::sim
