// Engine: one run. It handles events in the order of their time: bodies go on, copies and tasks
// end. engine.cc has the loop and everything that runs, launches.cc the launches of tasks and the
// time at which they are mapped. Mapping decides how they are mapped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/random.h"
#include "simulate/agenda.h"
#include "simulate/bodies.h"
#include "simulate/copies.h"
#include "simulate/links.h"
#include "simulate/mapper_events.h"
#include "simulate/mapping.h"
#include "simulate/record_writer.h"
#include "simulate/selection.h"
#include "simulate/station.h"
#include "simulate/task_durations.h"
#include "simulate/task_pool.h"

namespace groma::sim {

class Engine final : public Mapping {
 public:
  Engine(const app::Data& data, const Spaces& spaces, std::shared_ptr<const Machine> machine,
         const MapperFactory& make, const SimulateOptions& options);
  ~Engine() override;

  RunResult run();

  // ---- Calls for mappers (MapperRuntime)
  MapperEvent create_event() override { return mapper_events_.create(); }
  void trigger_event(MapperEvent event) override;
  bool send_message(const Processor& target, std::uint32_t kind,
                    std::span<const std::byte> message) override;
  bool broadcast(std::uint32_t kind, std::span<const std::byte> message) override;

 private:
  // The meaning of an op.
  struct OpUse {
    enum class Kind : std::uint8_t { kNone, kTask, kCopy, kJoin } kind = Kind::kNone;
    std::uint32_t copy = 0;
    // The task. For a future: the task that launched the launch which gives it; this task may be
    // finished.
    TaskRun* run = nullptr;
  };

  std::int64_t bytes() const override;
  bool stops() override { return options_.stop && options_.stop(); }

  // ---- The loop (engine.cc)
  void handle(const Event& event);
  void end_copy(std::uint32_t copy);
  void deliver(const Message& message);
  void future_there(Op op, std::int64_t cause);
  void op_ready(Op op, std::int64_t cause);
  void drain();
  void complete(Op op, std::int64_t record);
  void start_copy(std::uint32_t copy);
  void start_next(Station& station);
  void start(TaskRun& run, Station& station);
  void end_task(TaskRun& run);
  void complete_run(TaskRun& run);
  void report_profiling(const TaskRun& run);
  RunTime with_noise(double seconds);
  RunResult finish();

  // ---- Launches and the time of mapping (launches.cc)
  bool launch_top();
  void launch(Context& context, const app::Launch& launch);
  bool may_launch(const app::Launch& launch, std::int64_t points);
  bool make_points(Context& context, const app::Launch& launch, const Rect& domain,
                   std::vector<TaskRun*>& runs);
  bool order_points(Context& context, const app::Launch& launch, Op join,
                    std::span<TaskRun* const> runs);
  bool map_points(std::span<TaskRun* const> runs);
  bool map(TaskRun& run);
  bool occupy_runtime(TaskRun& run);
  void add_copies(const TaskRun& run);
  void after_mapping(TaskRun& run);
  Station& station(const TaskRun& run) { return stations_[static_cast<std::size_t>(run.number)]; }

  const SimulateOptions& options_;
  const RuntimeCosts costs_;
  Links links_;
  Agenda agenda_;
  RecordWriter record_;
  Copies copies_;
  TaskDurations durations_;
  TaskPool tasks_;
  std::vector<Station> stations_;
  MapperEvents mapper_events_;
  Selection selection_;
  Bodies bodies_;
  Draws draws_;              // of the noise
  std::vector<OpUse> uses_;  // by op
  std::vector<std::pair<Op, std::int64_t>> ready_;
  std::vector<RunTime> utility_;  // for each node: when its runtime processor is free
  std::uint32_t launches_ = 0;    // number of launches
  std::int64_t launched_ = 0;     // number of launched tasks
  // Buffers, kept so that their memory is reused.
  std::vector<RequirementView> point_views_, report_views_;
  std::vector<TaskRun*> launched_runs_;
};

}  // namespace groma::sim
