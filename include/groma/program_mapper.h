// ProgramMapper: a mapping program as a mapper. Bind the program to the machine (evaluate.h), make
// what the mapper objects share, then one object for each processor:
//
//   auto shared = ProgramMapper::share(bound, log);
//   for (Processor p : local) runtime.add(std::make_unique<ProgramMapper>(shared, MapperSite{...,
//   p}));
//
// Where no statement decides, it decides as DefaultMapper.
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

  // What all mapper objects of one binding use, from any thread. `log` (may be null) hears once of
  // each statement that the runtime cannot honour; it must outlive the result and be safe to call
  // from several threads. So must `stop` (may be null), which is asked now and then while functions
  // are evaluated that take long; once it says true they fail (IndexMap::Cursor).
  static std::shared_ptr<Shared> share(BoundProgram bound, LogSink* log = nullptr,
                                       std::function<bool()> stop = {});

  // The machine of the binding, as a MapperSite wants it.
  static std::shared_ptr<const Machine> machine_of(const Shared& shared);

  // site.machine must be the machine of the binding.
  ProgramMapper(std::shared_ptr<Shared> shared, MapperSite site);
  ~ProgramMapper() override;

  const Program& program() const;

  std::string_view name() const override { return "groma"; }
  // "a.mapper:4:1: `Region * * GPU FBMEM;`"
  std::string describe(Origin origin) const override;
  Source source() const override { return program().source(); }

  // Task, SingleTaskMap, ControlReplicate, TaskSteal.
  void select_task_options(MapperRuntime& runtime, const TaskView& task,
                           TaskOptions& answer) override;
  // A functor for each function, id f + 1 for function f; where it reads its task's name also one
  // for each name that it can tell apart (those that are compared anywhere in the program, the
  // first 4,096). It sends a point to the shard of the processor that the function gives it
  // (ShardTable::shard_of); a point at which the function fails to shard 0, since slice_task will
  // tell. Single tasks are dealt out cyclically: their function decides in select_task_options.
  std::span<const ShardingFunctor* const> sharding_functors() const override;
  ShardingId select_sharding_functor(MapperRuntime& runtime, const TaskView& operation,
                                     const ShardTable& shards) override;
  // ControlReplicate: a shard on each node; on one node, on each processor of the task's kind.
  void replicate_task(MapperRuntime& runtime, const TaskView& task,
                      ReplicateAnswer& answer) override;
  // IndexTaskMap: boxes of one processor each, single points where InstanceLimit or TaskSteal
  // counts them.
  void slice_task(MapperRuntime& runtime, const TaskView& task, const Rect& part,
                  SliceAnswer& answer) override;
  // Task, Region, Layout, CollectMemory, IndexTaskMap; SingleTaskMap decided where the task stands.
  void map_task(MapperRuntime& runtime, const TaskView& task,
                std::span<const std::span<const InstanceView>> valid, TaskWish& answer) override;
  // Task, IndexTaskMap, SingleTaskMap, as far as the processors are all different.
  void map_must_epoch(MapperRuntime& runtime, std::span<const TaskView> tasks,
                      MustEpochAnswer& answer) override;
  // InstanceLimit: maps what its limit lets through, and defers the rest until an instance ends.
  void select_tasks_to_map(MapperRuntime& runtime, std::span<const TaskView> ready,
                           ScheduleAnswer& answer) override;
  bool selects() const override;  // with an InstanceLimit statement
  bool reads_valid() const override { return false; }
  void report_profiling(MapperRuntime& runtime, const TaskView& operation,
                        const ProfilingReport& report) override;
  // InstanceLimit over several processors: their mapper objects tell each other.
  void handle_message(MapperRuntime& runtime, const Processor& sender, std::uint32_t kind,
                      std::span<const std::byte> message) override;
  // TaskSteal: processors of the kind, in the node or anywhere, each in its turn; the victim gives
  // half of what the thief may have.
  void select_steal_targets(MapperRuntime& runtime, std::span<const Processor> blacklist,
                            std::vector<Processor>& answer) override;
  void permit_steal_request(MapperRuntime& runtime, const Processor& thief,
                            std::span<const TaskView> stealable,
                            std::vector<std::uint32_t>& answer) override;
  // Whether an InstanceLimit over several processors has granted this object an instance of the
  // task, or is about to, that has not begun. One of the task that waits here must not be stolen
  // then, or the others would wait for a grant that nobody uses.
  bool expects_place(TaskId task) const;

 private:
  struct State;
  std::shared_ptr<Shared> shared_;
  std::unique_ptr<State> state_;
};

}  // namespace groma
