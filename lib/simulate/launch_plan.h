// LaunchPlan: how a launch statement was mapped when its task ran it before. A statement in a loop
// is often launched again with the same domain and the same pieces. Mappers that repeat their
// answers (Mapper::repeats_answers) are then not asked again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "groma/geometry.h"
#include "groma/task_slices.h"
#include "groma/wish.h"
#include "simulate/instance.h"

namespace groma::app {
struct Variant;
}  // namespace groma::app

namespace groma::sim {

// The work of one task on its processor and in its memories, whatever else runs at the time.
struct TaskWork {
  // What a task moves in one memory.
  struct Load {
    std::int32_t memory;
    double bytes;
    double unforeseen;  // the part of `bytes` that no prefetcher fetches
  };

  bool known = false;
  double overhead_s = 0;    // to launch its kernels
  double computing_s = 0;   // for its operations, and at least its measured time
  std::vector<Load> loads;  // in different memories

  // The instances and arguments of the task.
  std::vector<InstanceNumber> instances;
  std::vector<std::int64_t> arguments;
};

// What a task's mapper wishes for the time after the mapping.
struct TaskWishes {
  int priority = 0;
  ProfilingWish profiling;
};

// How one task was mapped.
struct TaskPlan {
  struct Requirement {
    std::uint32_t queries = 0;  // number of instances that were tried, in their order
    bool is_empty = false;      // the requirement has no data
    bool is_handed_on = false;  // no instance in the end: launched tasks take theirs
    bool untracked = false;     // RequirementWish::untracked
  };

  // How often a plan is replaced by another one. The pieces of some statements change each time, so
  // that no plan ever fits.
  static constexpr int kMostPlans = 2;

  int plans = 0;            // number of plans so far
  std::int32_t asked = -1;  // the processor whose mapper was asked; -1: nothing is known
  // The processors of the answer, of one kind in one node; the least loaded one runs the task. All
  // of them use the same memories of the kinds in the answer.
  std::vector<std::int32_t> processors;
  const app::Variant* variant = nullptr;
  TaskWishes wishes;
  std::vector<const Piece*> pieces;  // for each requirement
  std::vector<Requirement> requirements;
  std::vector<InstanceQuery> queries;  // of all requirements, one after the other
  TaskWork work;                       // what the task did when it ran
};

struct LaunchPlan {
  // The largest number of points for which answers are kept.
  static constexpr std::int64_t kMostPoints = std::int64_t{1} << 14;

  Rect domain;
  Processor initial;                 // where slicing started; only its kind and node count
  std::optional<TaskSlices> slices;  // the answer, for an index launch
  std::vector<TaskPlan> tasks;       // by the place of the point in the domain
  std::int64_t bytes = 0;            // memory of the tasks' lists
};

}  // namespace groma::sim
