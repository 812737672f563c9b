// TaskDurations: how long tasks run on their processors, by their formulas and by the traffic of
// their memories.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "app/data.h"
#include "groma/simulate.h"
#include "simulate/launch_plan.h"
#include "simulate/run_input.h"
#include "simulate/store.h"
#include "simulate/task_run.h"

namespace groma::sim {

class TaskDurations {
 public:
  // The object keeps references to `input`, `store` and `model`, so they must outlive it. If
  // `by_requirement` is true, TaskWork::by_requirement is filled.
  TaskDurations(const RunInput& input, const InstanceStore& store, const TimeModel& model,
                bool by_requirement)
      : input_(input),
        store_(store),
        model_(model),
        by_requirement_(by_requirement),
        streaming_(input.memories.size()) {}

  // Returns how long the task runs, in seconds. From now on the task counts as a user of the
  // bandwidth of its memories, which are noted in run.streams. Sets `fault` if a formula of the
  // task's variant has no value.
  double begin(TaskRun& run, app::FormulaFault& fault);
  // Returns the work of the task that the last call of begin() was about. The reference is valid
  // until the next call.
  TaskWork& last_work() { return *last_work_; }
  // Notes that the task does not use the bandwidth of its memories any more.
  void end(const TaskRun& run);
  // For callers that do not simulate time. Returns how long the task runs, in seconds, if
  // `count_users(memory)` tasks, this one included, use the bandwidth of each of its memories.
  using CountUsers = std::function<std::int64_t(std::int32_t memory)>;
  double seconds_with(TaskRun& run, const CountUsers& count_users, app::FormulaFault& fault);

 private:
  TaskWork& work_of(const TaskRun& run, app::FormulaFault& fault);
  void compute(const TaskRun& run, TaskWork& work, app::FormulaFault& fault);
  // Returns the smallest number of bytes that one memory access of this kind of processor
  // transfers.
  double sector_bytes(ProcKind kind) const {
    return kind == ProcKind::kGpu ? model_.gpu_sector_bytes : model_.cpu_line_bytes;
  }
  void add_updates_in_turn(const TaskRun& run, std::size_t requirement, double bytes,
                           TaskWork& work) const;
  void add_load(const TaskRun& run, std::size_t requirement, double bytes, Access access,
                TaskWork& work) const;
  double memory_seconds(TaskRun& run, std::span<const TaskWork::MemoryTraffic> loads,
                        const CountUsers& count_users);
  double structure_bytes(const Instance& instance) const;
  double bytes_moved_per_byte_used(const TaskRun& run, std::size_t requirement,
                                   const Instance& instance) const;
  double share_not_prefetched(const TaskRun& run, std::size_t requirement,
                              const Instance& instance) const;
  bool loops_differ_from_layout(const TaskRun& run, std::size_t requirement,
                                const Instance& instance) const;

  const RunInput& input_;
  const InstanceStore& store_;
  const TimeModel& model_;
  const bool by_requirement_;
  // For each memory: the number of running tasks that use its bandwidth.
  std::vector<std::int64_t> streaming_;
  // The work of the task that begins, used if the task has no plan that keeps its work.
  TaskWork work_;
  TaskWork* last_work_ = &work_;
  // The sizes of the pieces of the task that begins.
  std::vector<app::PieceSize> sizes_;
};

}  // namespace groma::sim
