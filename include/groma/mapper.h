// Mapper: the hooks that a runtime calls to learn where tasks and data go. To a runtime, a compiled
// program (program_mapper.h) and a mapper written by hand are the same.
//
// The hooks have the names and meanings of Legion's mapper interface. Where Legion overloads a call
// by operation, there is one hook here, which reads TaskView::operation. Every hook has a default
// that decides as Legion's DefaultMapper does. A runtime that lacks a concept never calls its hook.
//
// The calls for a task come in this order:
// * select_task_options
// * select_sharding_functor, if the parent is replicated
// * slice_task, for an index launch
// * select_tasks_to_map, on the processor that got the task or slice, together with the stealing
//   hooks
// * replicate_task, if the task itself is replicated
// * map_task, for each point
// * select_sources, if a copy has several sources
// * report_profiling, if asked for
//
// Threads: a runtime has one mapper object for each processor. Calls to one object follow each
// other and are never nested, but may come from any thread. State that objects share is immutable
// or locked.
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
#include "groma/mapper_output.h"
#include "groma/mapper_runtime.h"
#include "groma/sharding.h"
#include "groma/task_view.h"

namespace groma {

// The flags of programs written for Legion's DefaultMapper (`-dm:...`).
struct DefaultSettings {
  // The number of tasks that are mapped at a time. 0 stands for all (Legion's default is 8).
  int schedule_count = 0;
  // True if the flag -dm:exact_region is given: instances cover exactly the required region.
  bool exact_region = false;
  // The flag -dm:same_address_space, which keeps all tasks on the node that launches them.
  bool same_address_space = false;
  // True if the flag -dm:map_locally is given.
  bool map_locally = false;
  // True if the flag -dm:memoize is given: operations in a trace are memoised.
  bool memoize = false;
  // The flag -dm:replicate, which lets the mapper replicate the top-level task on several nodes.
  bool replicate = true;
};

// Tags of launches and requirements that DefaultMapper understands (DefaultMapper::MappingTags).
inline constexpr std::uint64_t kTagVirtualMap = 1;
inline constexpr std::uint64_t kTagExactRegion = 2;
inline constexpr std::uint64_t kTagSameAddressSpace = 4;
inline constexpr std::uint64_t kTagPreferRdma = 8;
inline constexpr std::uint64_t kTagPreferCpu = 16;

// Tunables that DefaultMapper answers, each as a std::size_t (DefaultMapper::DefaultTunables).
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

// Where a mapper object works: its machine, its processor, its settings and its log.
struct MapperSite {
  std::shared_ptr<const Machine> machine;
  // The processor that the mapper object serves.
  Processor local;
  DefaultSettings settings = {};
  // The log, which must outlive the mapper. Null if there is no log.
  LogSink* log = nullptr;
};

// A measured timeline of a task or copy, in nanoseconds of one clock (Legion: OperationTimeline).
struct ProfilingReport {
  OperationKind operation = OperationKind::kTask;
  // False if the operation was cancelled or failed (Legion: OperationStatus).
  bool completed = true;
  std::int64_t created_ns = 0, ready_ns = 0, started_ns = 0, ended_ns = 0;
  Processor processor;
};

// The base class of all mappers. Its hooks decide as Legion's DefaultMapper does.
class Mapper {
 public:
  explicit Mapper(MapperSite site);
  virtual ~Mapper();
  Mapper(const Mapper&) = delete;
  Mapper& operator=(const Mapper&) = delete;

  const Machine& machine() const { return *site_.machine; }
  const MapperSite& site() const { return site_; }

  // Returns the name of the mapper, which must not change (get_mapper_name).
  virtual std::string_view name() const { return "default"; }

  // Describes an origin in an answer: a statement with its place, or a sentence of a hand-written
  // mapper. Empty for 0.
  virtual std::string describe(DecisionOrigin origin) const;
  // Returns the text to which the places in the mapper's diagnostics refer: the text of the mapping
  // program. Empty by default, for a mapper without a program.
  virtual Source source() const { return {}; }

  // ---- How a task starts (select_task_options). The kind is the first of GPU, OMP, PROC, CPU, IO,
  // PY that has a variant and a processor (with kTagPreferCpu, GPU comes last). A task of depth 0
  // stays. Tasks of depth 1 are dealt round-robin to all processors of the kind. Deeper tasks and
  // IO tasks are dealt round-robin to those of the node.
  virtual void select_task_options(MapperRuntime& runtime, const TaskView& task,
                                   TaskOptions& answer);

  // ---- Replication. Returns the functors that select_sharding_functor may name; ids begin at 1. A
  // runtime registers them before it starts. They live as long as the mapper.
  virtual std::span<const ShardingFunctor* const> sharding_functors() const { return {}; }
  // Returns the functor that divides the points of an operation (a task, copy, fill, ...) among the
  // shards. The default is kCyclicSharding. The answer must be the same on every shard.
  virtual ShardingId select_sharding_functor(MapperRuntime& runtime, const TaskView& operation,
                                             const ShardTable& shards);
  // Chooses the variant and the processors of the shards of a replicated task. The default is the
  // first replicable variant, with one shard on each node. The runtime calls this hook only for
  // tasks whose options have `replicate`.
  virtual void replicate_task(MapperRuntime& runtime, const TaskView& task,
                              ReplicateTaskOutput& answer);

  // ---- Index launches (slice_task). Cuts `part` of the launch into slices. `part` is all of
  // task.domain, or the part that this shard or the previous slice has. Default: blocks over all
  // processors of the kind (over those of the node, if the parent is replicated). The blocks are as
  // equal as the factorisation of the number of processors allows.
  virtual void slice_task(MapperRuntime& runtime, const TaskView& task, const Rect& part,
                          SliceTaskOutput& answer);
  // Chooses the memories for the future to which an index launch reduces its results. An empty
  // answer leaves the choice to the runtime.
  virtual void premap_task(MapperRuntime& runtime, const TaskView& task,
                           std::vector<Memory>& answer);

  // ---- One task (map_task). `valid` has, for each requirement, the instances with valid data, if
  // the options asked for them. The default is:
  // * variant: the one with the highest id for the kind of `task.current`
  // * processor: `task.current`. IO and PY processors: any of the node. CPUs and OMP processors:
  //   any of the node if it has at most one SOCKMEM.
  // * inner variant: all requirements are virtual. Variant that is not a leaf: reductions are
  //   virtual.
  // * other requirements: the memory with the most bandwidth, all fields, SOA, Fortran order,
  //   shared with neighbours as InstanceChoice::shares says
  virtual void map_task(MapperRuntime& runtime, const TaskView& task,
                        std::span<const std::span<const InstanceView>> valid,
                        MapTaskOutput& answer);
  // Returns true if map_task and map_operation read `valid`. If false, a runtime need not fill it.
  virtual bool reads_valid() const { return true; }
  // Returns true if hooks or sharding functors read TaskView::points, the points of launches over
  // sparse index spaces. If false, a runtime need not find them.
  virtual bool reads_launch_points() const { return true; }
  // Returns true if hooks or sharding functors read the points of this launch. If not, a runtime
  // may run the launch although it has too many points to find.
  virtual bool reads_launch_points_of(const TaskView&) const { return reads_launch_points(); }
  // Returns true if slice_task, map_task and select_sources always give the same answer for the
  // same task: the same launch, domain, point, regions, parent and processor (for slice_task: its
  // kind and node; for select_sources: also the same instances). The answers may depend neither on
  // earlier calls nor on other instances. A runtime may then keep answers and ask no more. It may
  // also call select_task_options for all launches of a loop before the first of them, in their
  // order. So the answer of that hook may depend on earlier calls of it, but on nothing else that
  // changes during a run, and the hook must not change anything outside of the mapper.
  virtual bool repeats_answers() const { return false; }
  // Returns the variant of a task that is inlined in its parent on `task.current`. 0 means none.
  virtual VariantId select_task_variant(MapperRuntime& runtime, const TaskView& task);
  // Requests copies of the task's results, with one choice for each requirement. The default
  // requests no copies.
  virtual void postmap_task(MapperRuntime& runtime, const TaskView& task,
                            MapOperationOutput& answer);

  // ---- Other operations (map_inline, map_copy, map_partition; map_acquire and map_release decide
  // only profiling). Default: inline mappings and copies go to the memory nearest to the parent's
  // processor, partitions to host memory.
  virtual void map_operation(MapperRuntime& runtime, const TaskView& operation,
                             std::span<const std::span<const InstanceView>> valid,
                             MapOperationOutput& answer);
  // Returns the partition through which the operation projects. 0 means none.
  virtual PartitionId select_partition_projection(MapperRuntime& runtime, const TaskView& operation,
                                                  std::span<const PartitionId> open);
  // Chooses the memories that get the future to which a future map is reduced.
  virtual void map_future_map_reduction(MapperRuntime& runtime, std::uint64_t tag,
                                        std::vector<Memory>& answer);
  // Chooses a different processor for each task of a must epoch.
  virtual void map_must_epoch(MapperRuntime& runtime, std::span<const TaskView> tasks,
                              MapMustEpochOutput& answer);
  // Orders the instances from which data may be copied to `target` (select_task_sources,
  // select_inline_sources, ...). The answer has indices into `sources`, the best first. The default
  // puts the same memory first, then the memories of the same node by bandwidth, then other nodes.
  virtual void select_sources(MapperRuntime& runtime, const TaskView& operation,
                              const InstanceView& target, std::span<const InstanceView> sources,
                              std::vector<std::uint32_t>& answer);

  // ---- Order (select_tasks_to_map). Chooses the ready tasks that are mapped now. The default is
  // all ready tasks, in their order. `ready` outlives the call.
  virtual void select_tasks_to_map(MapperRuntime& runtime, std::span<const TaskView> ready,
                                   SelectMappingOutput& answer);
  // Returns true if select_tasks_to_map may hold back or move a task. If an override returns false,
  // a runtime need not call it.
  virtual bool selects() const { return true; }
  // Configures the context in which a task launches others. The default leaves Legion's defaults
  // (see ContextConfigOutput).
  virtual void configure_context(MapperRuntime& runtime, const TaskView& task,
                                 ContextConfigOutput& answer);

  // ---- Stealing (select_steal_targets, permit_steal_request). Default: nothing is stolen. A thief
  // asks the targets in the answer, except those that have refused it since (`blacklist`).
  virtual void select_steal_targets(MapperRuntime& runtime, std::span<const Processor> blacklist,
                                    std::vector<Processor>& answer);
  // Chooses which of the `stealable` tasks the processor `thief` gets. The answer has indices into
  // `stealable`.
  virtual void permit_steal_request(MapperRuntime& runtime, const Processor& thief,
                                    std::span<const TaskView> stealable,
                                    std::vector<std::uint32_t>& answer);

  // ---- Tracing (memoize_operation). Default: operations in a trace, if DefaultSettings::memoize
  // is set.
  virtual bool memoize_operation(MapperRuntime& runtime, const TaskView& operation, bool traced);
  // ---- Tunables (select_tunable_value). The answer is the bytes of the value. An id that Tunable
  // does not have gives no bytes.
  virtual void select_tunable_value(MapperRuntime& runtime, const TaskView& task, std::uint32_t id,
                                    std::uint64_t tag, std::span<const std::byte> arguments,
                                    std::vector<std::byte>& answer);

  // ---- Reports (report_profiling, handle_message, handle_task_result,
  // handle_instance_collection). The copies of a task are reported with the task;
  // `report.operation` tells them apart. When an instance is collected, every object that found,
  // made or acquired it is told.
  virtual void report_profiling(MapperRuntime& runtime, const TaskView& operation,
                                const ProfilingReport& report);
  virtual void handle_message(MapperRuntime& runtime, const Processor& sender, std::uint32_t kind,
                              std::span<const std::byte> message);
  virtual void handle_task_result(MapperRuntime& runtime, MapperEvent event,
                                  std::span<const std::byte> result);
  virtual void handle_instance_collection(MapperRuntime& runtime, InstanceId instance);

 protected:
  // Returns the next processor of a kind in round-robin order: of the whole machine, or of the
  // local node. The machine (the node) must have one.
  Processor next_global(ProcKind kind);
  Processor next_local(ProcKind kind);
  // Returns the default kind; see select_task_options. nullopt if no variant has a kind that the
  // machine has.
  std::optional<ProcKind> default_kind(const TaskView& task) const;
  // Returns the processor on which the default would start a task of that kind. The machine must
  // have a processor of the kind.
  Processor default_processor(const TaskView& task, ProcKind kind);
  // Returns true if the default would replicate the task: the top-level task on several nodes, with
  // a replicable variant for that kind.
  bool default_replicates(const TaskView& task, ProcKind kind) const;

 private:
  MapperSite site_;
  // For each kind, the processor of the machine that was chosen last.
  std::array<std::optional<Processor>, kProcKindCount> global_turn_;
  // For each kind, the index after that of the processor of this node that was chosen last.
  std::array<std::int64_t, kProcKindCount> local_turn_{};
};

// Decides as Legion's DefaultMapper does: with the default hooks of Mapper.
class DefaultMapper final : public Mapper {
 public:
  using Mapper::Mapper;
  bool selects() const override { return site().settings.schedule_count > 0; }
  bool reads_valid() const override { return false; }
  bool reads_launch_points() const override { return false; }
  bool repeats_answers() const override { return true; }
};

}  // namespace groma
