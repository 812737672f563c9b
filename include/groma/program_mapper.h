// ProgramMapper: applies a mapping program as a mapper. Bind the program to the machine
// (evaluate.h), make the state that the mapper objects share, then make one object for each
// processor:
//
//   auto shared = ProgramMapper::share(bound, log);
//   for (Processor p : local) {
//     runtime.add(std::make_unique<ProgramMapper>(shared, MapperSite{..., p}));
//   }
//
// Where no statement decides, it decides as DefaultMapper does.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "groma/evaluate.h"
#include "groma/mapper.h"

namespace groma {

class ProgramMapper final : public Mapper {
 public:
  struct Shared;

  // Makes the state that all mapper objects of one binding share, from any thread. `log` (may be
  // null) is told once about each statement that the runtime cannot honour. `stop` (may be null) is
  // asked from time to time during long evaluations; once it returns true, the evaluations fail
  // (IndexMap::Cursor). Both must outlive the result and be safe to call from several threads.
  static std::shared_ptr<Shared> share(BoundProgram bound, LogSink* log = nullptr,
                                       std::function<bool()> stop = {});

  // Returns the machine of the binding, in the form that a MapperSite needs.
  static std::shared_ptr<const Machine> machine_of(const Shared& shared);

  // site.machine must be the machine of the binding, or equal to it.
  ProgramMapper(std::shared_ptr<Shared> shared, MapperSite site);
  ~ProgramMapper() override;

  const Program& program() const;

  std::string_view name() const override { return "groma"; }
  // Returns text such as "a.mapper:4:1: `Region * * GPU FBMEM;`".
  std::string describe(DecisionOrigin origin) const override;
  Source source() const override { return program().source(); }

  // Applies Task, SingleTaskMap, ControlReplicate and TaskSteal.
  void select_task_options(MapperRuntime& runtime, const TaskView& task,
                           TaskOptions& answer) override;
  // Returns one functor for each function: id f + 1 for function f. A function that reads its
  // task's name also has one for each name that it can distinguish. These are the names that the
  // program compares anywhere, at most the first 4,096.
  // A functor sends a point to the shard of the processor that the function gives it
  // (ShardTable::shard_of). It sends a point at which the function fails to shard 0, since
  // slice_task reports the error. Single tasks are dealt cyclically; their function decides in
  // select_task_options.
  std::span<const ShardingFunctor* const> sharding_functors() const override;
  ShardingId select_sharding_functor(MapperRuntime& runtime, const TaskView& operation,
                                     const ShardTable& shards) override;
  // Applies ControlReplicate: one shard on each node, or, on a single node, one on each processor
  // of the task's kind.
  void replicate_task(MapperRuntime& runtime, const TaskView& task,
                      ReplicateTaskOutput& answer) override;
  // Applies IndexTaskMap. Each slice is a box for one processor; a slice is a single point if
  // InstanceLimit or TaskSteal counts the points.
  void slice_task(MapperRuntime& runtime, const TaskView& task, const Rect& part,
                  SliceTaskOutput& answer) override;
  // Applies Task, Region, Layout, CollectMemory and IndexTaskMap. SingleTaskMap was applied in
  // select_task_options.
  void map_task(MapperRuntime& runtime, const TaskView& task,
                std::span<const std::span<const InstanceView>> valid,
                MapTaskOutput& answer) override;
  // Applies Task, IndexTaskMap and SingleTaskMap, as long as the processors are all different.
  void map_must_epoch(MapperRuntime& runtime, std::span<const TaskView> tasks,
                      MapMustEpochOutput& answer) override;
  // Applies InstanceLimit: maps as many tasks as the limit allows, and defers the rest until an
  // instance ends.
  void select_tasks_to_map(MapperRuntime& runtime, std::span<const TaskView> ready,
                           SelectMappingOutput& answer) override;
  bool repeats_answers() const override { return true; }
  // Returns true if the program has an InstanceLimit statement.
  bool selects() const override;
  bool reads_valid() const override { return false; }
  // Returns true if a function of the program reads `irank` or `ivolume`.
  bool reads_launch_points() const override;
  // Returns true if the function that places the points of this launch reads them.
  bool reads_launch_points_of(const TaskView& task) const override;
  void report_profiling(MapperRuntime& runtime, const TaskView& operation,
                        const ProfilingReport& report) override;
  // Handles the messages with which mapper objects count an InstanceLimit over several processors.
  void handle_message(MapperRuntime& runtime, const Processor& sender, std::uint32_t kind,
                      std::span<const std::byte> message) override;
  // Applies TaskSteal. The targets are the processors of the kind, in the node or on the machine,
  // in turn. The victim gives half of the tasks that the thief may have.
  void select_steal_targets(MapperRuntime& runtime, std::span<const Processor> blacklist,
                            std::vector<Processor>& answer) override;
  void permit_steal_request(MapperRuntime& runtime, const Processor& thief,
                            std::span<const TaskView> stealable,
                            std::vector<std::uint32_t>& answer) override;
  // Returns the number of a grant if an InstanceLimit over several processors lets this mapper
  // object run one more instance of the task, and the object has not used this grant yet. Also if
  // such a grant is about to come. One of the tasks with this number that wait here must then not
  // be stolen, because the others would wait for a grant that nobody uses.
  std::optional<std::uint64_t> unused_grant(const TaskView& task) const;

 private:
  struct State;
  std::shared_ptr<Shared> shared_;
  std::unique_ptr<State> state_;
};

}  // namespace groma
