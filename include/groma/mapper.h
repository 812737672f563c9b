// Mapper: the hooks that a runtime calls to learn where tasks and data go. A compiled program
// (program_mapper.h) and a mapper written by hand are the same to it.
//
// The hooks have Legion's names and meaning (reference: Legion's mapper interface); what Legion
// overloads by operation is one hook here, which sees TaskView::operation. Every hook has a default
// that decides as Legion's DefaultMapper does; a runtime that lacks a concept never calls its hook.
//
// Order of calls for a task: select_task_options; select_sharding_functor, where the parent is
// replicated; slice_task for an index launch; select_tasks_to_map on the processor that got the
// task or slice, with the stealing hooks; map_task for each point (replicate_task before it, where
// the task itself is replicated); select_sources where a copy has several; report_profiling if
// asked for.
//
// Threads: a runtime has one mapper object for each processor. It makes calls to one object one
// after the other, never one inside another, in any thread. What objects share is immutable or
// locks itself.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "groma/log.h"
#include "groma/machine.h"
#include "groma/mapper_runtime.h"
#include "groma/sharding.h"
#include "groma/task_view.h"
#include "groma/wish.h"

namespace groma {

// Flags of programs written for Legion's DefaultMapper (`-dm:...`).
struct DefaultSettings {
  int schedule_count = 0;           // tasks mapped at a time; 0: all (Legion's default is 8)
  bool exact_region = false;        // -dm:exact_region
  bool same_address_space = false;  // -dm:same_address_space: nothing leaves its node
  bool map_locally = false;         // -dm:map_locally
  bool memoize = false;             // -dm:memoize
  bool replicate = true;            // -dm:replicate: the top-level task, on several nodes
};

// Tags of launches and requirements that DefaultMapper understands (DefaultMapper::MappingTags).
inline constexpr std::uint64_t kTagVirtualMap = 1;
inline constexpr std::uint64_t kTagExactRegion = 2;
inline constexpr std::uint64_t kTagSameAddressSpace = 4;
inline constexpr std::uint64_t kTagPreferRdma = 8;
inline constexpr std::uint64_t kTagPreferCpu = 16;

// Tunables that DefaultMapper answers, each a std::size_t (DefaultMapper::DefaultTunables).
enum class Tunable : std::uint32_t {
  kNodeCount,
  kLocalCpus,
  kLocalGpus,
  kLocalIos,
  kLocalOmps,
  kLocalPys,
  kGlobalCpus,
  kGlobalGpus,
  kGlobalIos,
  kGlobalOmps,
  kGlobalPys,
};

// Where a mapper object stands.
struct MapperSite {
  std::shared_ptr<const Machine> machine;
  Processor local;  // whose mapper it is
  DefaultSettings settings = {};
  LogSink* log = nullptr;  // lives longer than the mapper; null: silence
};

// A measured time line of a task or copy, in nanoseconds of one clock (Legion: OperationTimeline).
struct ProfilingReport {
  OperationKind operation = OperationKind::kTask;
  bool completed = true;  // OperationStatus; else cancelled or failed
  std::int64_t created_ns = 0, ready_ns = 0, started_ns = 0, ended_ns = 0;
  Processor processor;
};

class Mapper {
 public:
  explicit Mapper(MapperSite site);
  virtual ~Mapper();
  Mapper(const Mapper&) = delete;
  Mapper& operator=(const Mapper&) = delete;

  const Machine& machine() const { return *site_.machine; }
  const MapperSite& site() const { return site_; }

  // The mapper's name, which must stay the same (get_mapper_name).
  virtual std::string_view name() const { return "default"; }

  // What an origin in an answer stands for: a statement with its place, or a sentence of a mapper
  // written by hand. Empty for 0.
  virtual std::string describe(Origin origin) const;
  // The text that the places in its diagnostics are of: a program's. Empty by default.
  virtual Source source() const { return {}; }

  // ---- How a task starts (select_task_options). Depth 0 stays, depth 1 goes round all processors
  // of the kind, deeper tasks and IO tasks round those of the node; the kind is the first of GPU,
  // OMP, PROC, CPU, IO, PY (kTagPreferCpu: GPU last) that has a variant and a processor.
  virtual void select_task_options(MapperRuntime& runtime, const TaskView& task,
                                   TaskOptions& answer);

  // ---- Replication. The functors that select_sharding_functor may name, from id 1; a runtime
  // registers them before it starts. They live as long as the mapper.
  virtual std::span<const ShardingFunctor* const> sharding_functors() const { return {}; }
  // select_sharding_functor (of tasks, copies, fills, ...): kCyclicSharding. The answer must be the
  // same on every shard.
  virtual ShardingId select_sharding_functor(MapperRuntime& runtime, const TaskView& operation,
                                             const ShardTable& shards);
  // replicate_task: the first replicable variant, a shard on each node. Only for tasks whose
  // options said `replicate`.
  virtual void replicate_task(MapperRuntime& runtime, const TaskView& task,
                              ReplicateAnswer& answer);

  // ---- Index launches (slice_task): cuts `part` of the launch, which is all of task.domain or
  // what this shard, or the slice before, has of it. Blocks over all processors of the kind, of the
  // node alone where the parent is replicated, as equal as the factorisation of their number
  // allows.
  virtual void slice_task(MapperRuntime& runtime, const TaskView& task, const Rect& part,
                          SliceAnswer& answer);
  // premap_task: memories for the reduced future; none: where the runtime likes.
  virtual void premap_task(MapperRuntime& runtime, const TaskView& task,
                           std::vector<Memory>& answer);

  // ---- One task (map_task). `valid` has the instances with valid data for each requirement, where
  // the options asked for them. The variant with the highest id for the kind of `task.current`;
  // that processor, for IO and PY processors any of its node, and for CPUs and OMP processors on a
  // node with one SOCKMEM or none; of an inner variant all virtual, of one that is no leaf
  // reductions; else the memory with the most bandwidth, all fields SOA in F order, shared with
  // neighbours as far as RequirementWish::shares says.
  virtual void map_task(MapperRuntime& runtime, const TaskView& task,
                        std::span<const std::span<const InstanceView>> valid, TaskWish& answer);
  // Whether map_task and map_operation look at `valid`. Where not, a runtime need not fill it.
  virtual bool reads_valid() const { return true; }
  // select_task_variant: of a task that is inlined in its parent on `task.current`. 0: none.
  virtual VariantId select_task_variant(MapperRuntime& runtime, const TaskView& task);
  // postmap_task: copies of the results to be made, a wish for each requirement (none by default).
  virtual void postmap_task(MapperRuntime& runtime, const TaskView& task, OperationWish& answer);

  // ---- Other operations (map_inline, map_copy, map_partition; map_acquire, map_release decide
  // profiling only). Inline mappings and copies go to the memory nearest to the parent's processor,
  // partitions to host memory.
  virtual void map_operation(MapperRuntime& runtime, const TaskView& operation,
                             std::span<const std::span<const InstanceView>> valid,
                             OperationWish& answer);
  // select_partition_projection: the partition of which the projection is to be done; 0: none.
  virtual PartitionId select_partition_projection(MapperRuntime& runtime, const TaskView& operation,
                                                  std::span<const PartitionId> open);
  // map_future_map_reduction: the memories that shall have the result.
  virtual void map_future_map_reduction(MapperRuntime& runtime, std::uint64_t tag,
                                        std::vector<Memory>& answer);
  // map_must_epoch: a processor for each task.
  virtual void map_must_epoch(MapperRuntime& runtime, std::span<const TaskView> tasks,
                              MustEpochAnswer& answer);
  // select_task_sources, select_inline_sources, ...: indices into `sources`, best first. The
  // nearest: the same memory, then the same node by bandwidth, then others.
  virtual void select_sources(MapperRuntime& runtime, const TaskView& operation,
                              const InstanceView& target, std::span<const InstanceView> sources,
                              std::vector<std::uint32_t>& answer);

  // ---- Order (select_tasks_to_map): all that are ready, in their order. `ready` outlives the
  // call.
  virtual void select_tasks_to_map(MapperRuntime& runtime, std::span<const TaskView> ready,
                                   ScheduleAnswer& answer);
  // Whether that may hold a task back or move one. Where not, a runtime need not ask: who overrides
  // this with false is not asked.
  virtual bool selects() const { return true; }
  virtual void configure_context(MapperRuntime& runtime, const TaskView& task,
                                 ContextAnswer& answer);

  // ---- Stealing (select_steal_targets, permit_steal_request): nothing is stolen. A thief asks the
  // targets that it gets, but none that refused it since (`blacklist`).
  virtual void select_steal_targets(MapperRuntime& runtime, std::span<const Processor> blacklist,
                                    std::vector<Processor>& answer);
  // Which of the stealable tasks `thief` gets: indices.
  virtual void permit_steal_request(MapperRuntime& runtime, const Processor& thief,
                                    std::span<const TaskView> stealable,
                                    std::vector<std::uint32_t>& answer);

  // ---- Tracing (memoize_operation): what is traced, with DefaultSettings::memoize.
  virtual bool memoize_operation(MapperRuntime& runtime, const TaskView& operation, bool traced);
  // ---- Tunables (select_tunable_value): the value's bytes. An id that is none of Tunable
  // gives no bytes.
  virtual void select_tunable_value(MapperRuntime& runtime, const TaskView& task, std::uint32_t id,
                                    std::uint64_t tag, std::span<const std::byte> arguments,
                                    std::vector<std::byte>& answer);

  // ---- What comes back (report_profiling, handle_message, handle_task_result,
  // handle_instance_collection). A task's copies are reported with the task: `report.operation`
  // says of what. Of an instance that is gone those objects are told that found, made or acquired
  // it.
  virtual void report_profiling(MapperRuntime& runtime, const TaskView& operation,
                                const ProfilingReport& report);
  virtual void handle_message(MapperRuntime& runtime, const Processor& sender, std::uint32_t kind,
                              std::span<const std::byte> message);
  virtual void handle_task_result(MapperRuntime& runtime, MapperEvent event,
                                  std::span<const std::byte> result);
  virtual void handle_instance_collection(MapperRuntime& runtime, InstanceId instance);

 protected:
  // The next processor of a kind, round and round: of the whole machine, of the local node. The
  // machine (the node) must have one.
  Processor next_global(ProcKind kind);
  Processor next_local(ProcKind kind);
  // The kind that the default would choose: see select_task_options. Nothing without a variant for
  // a kind that the machine has.
  std::optional<ProcKind> default_kind(const TaskView& task) const;
  // The processor on which the default would start a task of that kind, which the machine must
  // have.
  Processor default_processor(const TaskView& task, ProcKind kind);
  // Whether the default would replicate it: the top-level task on several nodes, by a replicable
  // variant for that kind.
  bool default_replicates(const TaskView& task, ProcKind kind) const;

 private:
  MapperSite site_;
  std::array<std::optional<Processor>, kProcKindCount> global_turn_;  // the last one chosen
  std::array<std::int64_t, kProcKindCount> local_turn_{};             // the index after it
};

// Decides as Legion's DefaultMapper: the hooks of Mapper as they are.
class DefaultMapper final : public Mapper {
 public:
  using Mapper::Mapper;
  bool selects() const override { return site().settings.schedule_count > 0; }
  bool reads_valid() const override { return false; }
};

}  // namespace groma
