// Engine: performs one simulated run. It handles events in the order of their time: task bodies
// continue, and copies and tasks end. engine.cc has the event loop; launches.cc has the launches of
// tasks and the times at which tasks are mapped. TaskMapping decides how tasks are mapped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "simulate/agenda.h"
#include "simulate/bodies.h"
#include "simulate/copies.h"
#include "simulate/loop_replay.h"
#include "simulate/mapper_events.h"
#include "simulate/noise.h"
#include "simulate/op_subjects.h"
#include "simulate/record_writer.h"
#include "simulate/run_counts.h"
#include "simulate/run_parts.h"
#include "simulate/selection.h"
#include "simulate/stations.h"
#include "simulate/steady_loop.h"
#include "simulate/task_mapping.h"
#include "simulate/task_pool.h"

namespace groma::sim {

// The kept plans of launches may take at most 1/kShareOfPlans of the memory limit of a run, and so
// may the recorded iterations of loops. So they do not make the run fail.
inline constexpr std::int64_t kShareOfPlans = 8;

class Engine {
 public:
  Engine(const app::Data& data, const DataSpaces& spaces, std::shared_ptr<const Machine> machine,
         const MapperFactory& make, const SimulateOptions& options);

  RunResult run();

 private:
  std::int64_t bytes() const;

  // ---- The loop (engine.cc)
  void handle(const Event& event);
  bool handle(ReadyOp ready);
  void complete_future(Op op, std::int64_t cause);
  void end_copy(std::uint32_t copy);
  void end_task(TaskRun& run);
  void complete(TaskRun& run);
  void handle_ready_ops();
  RunResult finish();

  // ---- Launches and the time of mapping (launches.cc)
  void launch(LaunchingTask& context, const app::Launch& launch);
  bool may_launch(const app::Launch& launch, std::int64_t points);
  bool make_tasks_of_points(LaunchingTask& context, const app::Launch& launch,
                            const LaunchDomain& domain, CachedLaunchMapping* plan,
                            std::vector<TaskRun*>& runs);
  CachedLaunchMapping* plan_for(LaunchingTask& context, const app::Launch& launch,
                                const LaunchDomain& domain);
  bool keeps_plans() const;
  // Returns the time at which the task executes its present statement; now if there is no task.
  RunTime time_of(const LaunchingTask* context) const {
    return context != nullptr && context->catches_up ? context->now : agenda_.now();
  }
  void keep_plan(CachedLaunchMapping& launch, CachedTaskMapping& plan);
  bool add_future_dependences(LaunchingTask& context, const app::Launch& launch, Op join,
                              std::span<TaskRun* const> runs);
  bool map_points(std::span<TaskRun* const> runs);
  bool map_task(TaskRun& run);
  bool occupy_runtime(TaskRun& run);
  void add_copies(const TaskRun& run);
  void note_task_mapped(TaskRun& run);

  const SimulateOptions& options_;
  const RuntimeCosts costs_;
  RunParts parts_;
  TaskMapping mapping_;
  Agenda agenda_;
  RecordWriter record_;
  Noise noise_;
  Copies copies_;
  ProcessorStates stations_;
  TaskPool tasks_;
  OpSubjects uses_;
  LoopReplay replay_;
  RunCounts counts_;
  // For each node: the time at which its runtime processor becomes free, in picoseconds.
  std::vector<RunTime> utility_;
  SteadyLoop steady_;
  MapperEvents mapper_events_;
  TaskSelection selection_;
  Bodies bodies_;
  // The memory of all kept plans of launches, in bytes.
  std::int64_t planned_bytes_ = 0;
  // Buffers that are members only so that their memory is used again by later calls.
  std::vector<RequirementView> report_views_;
  std::vector<TaskRun*> launched_runs_;
};

}  // namespace groma::sim
