// CachedLaunchMapping: remembers how a launch statement was mapped. A statement in a loop is often
// launched again with the same domain and the same pieces. Mappers that repeat their answers
// (Mapper::repeats_answers) are then not asked again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "groma/geometry.h"
#include "groma/mapper_output.h"
#include "groma/task_slices.h"
#include "simulate/instance.h"

namespace groma::app {
struct Variant;
}  // namespace groma::app

namespace groma::sim {

// The work of one task on its processor and in its memories. It does not depend on what else runs
// at the time.
struct TaskWork {
  // The bytes that a task moves in one memory.
  struct MemoryTraffic {
    std::int32_t memory;
    double bytes;
    // Those of `bytes` that no hardware prefetcher fetches before the processor needs them.
    double unforeseen;
    // The number of atomic updates by a GPU that wait for each other, because they are in the same
    // line of a memory outside its framebuffer. 0 for other memories.
    double updates_in_turn;
  };
  // The bytes that a task moves for one region requirement, as RunRecord::TaskCost describes them.
  struct RequirementTraffic {
    std::int32_t requirement;
    double bytes, host_bytes;
  };

  bool known = false;
  // The time that it takes to launch the GPU kernels of the task, in seconds.
  double overhead_s = 0;
  // The time for the arithmetic operations of the task in seconds, but at least its measured time.
  double computing_s = 0;
  // The memory traffic of the task: one entry for each memory that it uses.
  std::vector<MemoryTraffic> loads;
  // The memory traffic by requirement, and the index of this work in RunRecord::costs (-1: it is
  // not recorded). Used only if the run is recorded.
  std::vector<RequirementTraffic> by_requirement;
  std::int32_t recorded = -1;

  // The instances and the argument values of the task for which this work was computed. For others
  // the work has to be computed again.
  std::vector<InstanceNumber> instances;
  std::vector<std::int64_t> arguments;
};

// The parts of a mapper's answer to map_task that the run still needs after the task is mapped: the
// task's priority and the wanted profiling.
struct PriorityAndProfiling {
  int priority = 0;
  RequestedMeasurements profiling;
};

// How one task was mapped, so that a later equal task can be mapped without asking its mapper.
struct CachedTaskMapping {
  struct Requirement {
    // How many of the entries in CachedTaskMapping::queries belong to this requirement: the
    // instances that were tried for it, one after the other.
    std::uint32_t queries = 0;
    // True if the requirement has no data.
    bool is_empty = false;
    // True if the requirement got no instance because it is mapped virtually: the tasks that this
    // task launches take instances for their parts of the data.
    bool is_handed_on = false;
    // The value of InstanceChoice::untracked: after the task, the data need not be remembered as
    // valid in the instance.
    bool untracked = false;
  };

  // The largest number of plans that are made, one after the other, for one task of a launch. For
  // some launch statements the pieces change each time, so that no plan can ever be used.
  static constexpr int kMostPlans = 2;

  // The number of plans that were made for this task so far.
  int plans = 0;
  // The number of the processor on which the task was held when its mapper was asked. -1: there is
  // no plan yet.
  std::int32_t asked = -1;
  // The processors in the mapper's answer, of one kind in one node. The least loaded of them runs
  // the task. All of them use the same memories of the kinds in the answer.
  std::vector<std::int32_t> processors;
  const app::Variant* variant = nullptr;
  PriorityAndProfiling choices;
  // For each requirement of the task: the piece that it uses.
  std::vector<const Piece*> pieces;
  std::vector<Requirement> requirements;
  // The instance queries of all requirements, one requirement after the other.
  std::vector<InstanceQuery> queries;
  // The work of the task, as it was computed when a task with this plan was last started.
  TaskWork work;
};

struct CachedLaunchMapping {
  // A launch gets a plan only if it has at most this number of points.
  static constexpr std::int64_t kMostPoints = std::int64_t{1} << 14;

  LaunchDomain domain;
  // The processor at which the mapper began to slice the launch. The slices may be used again for a
  // launch that starts at any processor of the same kind in the same node.
  Processor initial;
  // The slices that the mapper chose for an index launch. nullopt: they are not known yet.
  std::optional<TaskSlices> slices;
  // The plans of the tasks, by the row-major position of the point in the box of the domain.
  std::vector<CachedTaskMapping> tasks;
  // The memory of this plan and of its lists, in bytes.
  std::int64_t bytes = 0;
};

}  // namespace groma::sim
