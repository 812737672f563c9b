// Engine: one run. It handles events in the order of their time: bodies go on, copies and tasks
// end. engine.cc has the loop and everything that runs, launches.cc the launches of tasks and the
// time at which they are mapped. TaskMapping decides how they are mapped.
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
#include "simulate/op_uses.h"
#include "simulate/record_writer.h"
#include "simulate/run_parts.h"
#include "simulate/selection.h"
#include "simulate/stations.h"
#include "simulate/task_mapping.h"
#include "simulate/task_pool.h"

namespace groma::sim {

// What is kept about loops may take one part in so many of a run's memory, so that it does not keep
// a run from its end.
inline constexpr std::int64_t kShareOfPlans = 8;

class Engine {
 public:
  Engine(const app::Data& data, const Spaces& spaces, std::shared_ptr<const Machine> machine,
         const MapperFactory& make, const SimulateOptions& options);

  RunResult run();

 private:
  std::int64_t bytes() const;

  // ---- The loop (engine.cc)
  void handle(const Event& event);
  bool handle(ReadyOp ready);
  void future_there(Op op, std::int64_t cause);
  void end_copy(std::uint32_t copy);
  void end_task(TaskRun& run);
  void complete(TaskRun& run);
  void drain();
  RunResult finish();

  // ---- Launches and the time of mapping (launches.cc)
  void launch(Context& context, const app::Launch& launch);
  bool may_launch(const app::Launch& launch, std::int64_t points);
  bool make_points(Context& context, const app::Launch& launch, const Rect& domain,
                   LaunchPlan* plan, std::vector<TaskRun*>& runs);
  LaunchPlan* plan_for(Context& context, const app::Launch& launch, const Rect& domain);
  bool keeps_plans() const;
  void keep_plan(LaunchPlan& launch, TaskPlan& plan);
  bool order_points(Context& context, const app::Launch& launch, Op join,
                    std::span<TaskRun* const> runs);
  bool map_points(std::span<TaskRun* const> runs);
  bool map(TaskRun& run);
  bool occupy_runtime(TaskRun& run);
  void add_copies(const TaskRun& run);
  void after_mapping(TaskRun& run);

  const SimulateOptions& options_;
  const RuntimeCosts costs_;
  RunParts parts_;
  TaskMapping mapping_;
  Agenda agenda_;
  RecordWriter record_;
  Noise noise_;
  Copies copies_;
  Stations stations_;
  TaskPool tasks_;
  OpUses uses_;
  LoopReplay replay_;
  MapperEvents mapper_events_;
  Selection selection_;
  Bodies bodies_;
  std::vector<RunTime> utility_;    // for each node: when its runtime processor is free
  std::uint32_t launches_ = 0;      // number of launches
  std::int64_t launched_ = 0;       // number of launched tasks
  std::int64_t planned_bytes_ = 0;  // memory of the plans of launches
  // Buffers, kept so that their memory is reused.
  std::vector<RequirementView> report_views_;
  std::vector<TaskRun*> launched_runs_;
};

}  // namespace groma::sim
