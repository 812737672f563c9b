// Adapter: a Legion mapper whose hooks are answered by a groma::Mapper. Everything that a mapping
// does not decide is left to Legion's DefaultMapper, the base class.
#pragma once

#include <legion.h>
#include <mappers/default_mapper.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "groma/legion.h"
#include "groma/mapper.h"
#include "groma/validate.h"
#include "legion/asked_instances.h"
#include "legion/hook_call.h"
#include "legion/instances.h"
#include "legion/machine_map.h"
#include "legion/reductions.h"
#include "legion/sharding.h"
#include "legion/stealing.h"
#include "legion/task_views.h"

namespace groma::legion {

// A function that is told which statement (`origin`) decided the memory for the data of a task's
// requirement. The origin is empty if no statement decided and the default mapper did.
using RecordMemoryOrigin =
    std::function<void(Legion::UniqueID task, std::size_t requirement, DecisionOrigin origin)>;

// The state that is shared by the adapters of one registered mapping, one for each processor.
struct Registration {
  MapperFactory factory;
  Options options;
  // Called with the statement that decided the memory for the data of a requirement. An empty
  // function if nobody uses this information.
  RecordMemoryOrigin record_memory_origin = {};
  // True if a second mapping, that of `groma run --map`, stands above this one and decides the
  // tasks that it names.
  bool is_below_run_mapping = false;
  // The requests with which the program's own mappers got instances, and the instances that
  // adapters made instead. Complete only if the preload library observes the requests (preload.cc).
  std::shared_ptr<RequestedInstances> instance_requests = {};
  std::shared_ptr<const MachineMap> machine;
  ShardFunctors functors;
  LaunchPoints launch_points;
  // Returns `launch_points`, or null if the mapper does not read the points of sparse launches.
  LaunchPoints* points_for(const groma::Mapper& reader) {
    return reader.reads_launch_points() ? &launch_points : nullptr;
  }
  RegionIds regions;
  Reductions reductions;

  // note_stealable() records that launches of a task may be stolen, and is_stealable() tells
  // whether that was recorded. Legion's own flag is not used: it is false for slices that were
  // declared stealable.
  void note_stealable(Legion::TaskID task);
  bool is_stealable(const Legion::Task& task);
  // True once some task of the program may be stolen.
  std::atomic<bool> any_task_stealable = false;

  // on_adapter_start() is called when an adapter starts, on_adapter_end() when one ends. `names`
  // are the task and region names that the adapter saw. After the last adapter, the log reports
  // names in the program of `mapper` (if it has one) that did not occur in the run.
  void on_adapter_start();
  void on_adapter_end(const groma::Mapper& mapper, const groma::mapper::NamesOfRun& names);
  // Notes a launched task that no statement names. Its name is a candidate when a statement's name
  // is misspelt.
  void note_launched(std::string_view task);

  // Returns the log that the options name, or a log that writes to standard error.
  LogSink* log() const;

  // Logs a warning and the statement that caused it (`origin`). A warning that was logged before is
  // dropped.
  void warn_once(const Diagnostic& diagnostic, DecisionOrigin origin, const groma::Mapper& mapper);

  // Logs the error and the statement that caused it (`origin`), then ends the process.
  [[noreturn]] void fail(const Diagnostic& diagnostic, DecisionOrigin origin,
                         const groma::Mapper* mapper) const;

 private:
  std::mutex mutex_;
  int adapters_ = 0;
  groma::mapper::NamesOfRun names_;
  std::set<Legion::TaskID> stealable_;
  std::set<std::string> warned_;
};

// A group of region requirements of a task whose data the program's mapper put into one instance.
// An instance that replaces it must also serve all of them, because the task may rely on finding
// their data together.
struct ColocatedRequirements {
  Legion::Mapping::PhysicalInstance instance;
  // The places where the answer of the program's mapper names the instance. Each pair has the
  // position of a requirement, and an index in the list of instances of this requirement.
  std::vector<std::pair<std::size_t, std::size_t>> uses_in_answer;
};

// A Legion mapper for one processor. Its hooks ask a groma::Mapper and carry out the answers.
class Adapter final : public Legion::Mapping::DefaultMapper {
 public:
  Adapter(std::shared_ptr<Registration> registration, Legion::Mapping::MapperRuntime* rt,
          const Legion::Machine& realm_machine, Legion::Processor local,
          std::unique_ptr<groma::Mapper> mapper, bool in_turn);
  ~Adapter() override;

  // Declares that the adapter stands above a mapper of the program. `requests_only_defaults`: the
  // result of the function requests_default_layouts() (overlay.h) for that mapper.
  void set_above_program_mapper(bool requests_only_defaults) {
    views_.set_above_program_mapper();
    program_requests_only_defaults_ = requests_only_defaults;
  }

  RequestedInstances& asked_instances() const { return *registration_->instance_requests; }

  const char* get_mapper_name() const override { return name_.c_str(); }

  void select_task_options(MapperContext context, const Legion::Task& task,
                           TaskOptions& output) override;
  void select_sharding_functor(MapperContext context, const Legion::Task& task,
                               const SelectShardingFunctorInput& input,
                               SelectShardingFunctorOutput& output) override;
  void replicate_task(MapperContext context, const Legion::Task& task,
                      const ReplicateTaskInput& input, ReplicateTaskOutput& output) override;
  void slice_task(MapperContext context, const Legion::Task& task, const SliceTaskInput& input,
                  SliceTaskOutput& output) override;
  void map_task(MapperContext context, const Legion::Task& task, const MapTaskInput& input,
                MapTaskOutput& output) override;
  void report_profiling(MapperContext context, const Legion::Task& task,
                        const TaskProfilingInfo& input) override;

  // ---- Hooks for copies, inline mappings and other operations (adapter_operations.cc)
  void map_inline(MapperContext context, const Legion::InlineMapping& operation,
                  const MapInlineInput& input, MapInlineOutput& output) override;
  void map_copy(MapperContext context, const Legion::Copy& operation, const MapCopyInput& input,
                MapCopyOutput& output) override;
  void map_partition(MapperContext context, const Legion::Partition& operation,
                     const MapPartitionInput& input, MapPartitionOutput& output) override;
#define GROMA_SHARDING(Operation)                                                         \
  void select_sharding_functor(MapperContext context, const Legion::Operation& operation, \
                               const SelectShardingFunctorInput& input,                   \
                               SelectShardingFunctorOutput& output) override;
  GROMA_SHARDING(Copy)
  GROMA_SHARDING(Close)
  GROMA_SHARDING(Acquire)
  GROMA_SHARDING(Release)
  GROMA_SHARDING(Partition)
  GROMA_SHARDING(Fill)
#undef GROMA_SHARDING
  void select_sharding_functor(MapperContext context, const Legion::MustEpoch& epoch,
                               const SelectShardingFunctorInput& input,
                               MustEpochShardingFunctorOutput& output) override;
#define GROMA_SOURCES(hook, Operation, Select)                                                     \
  void hook(MapperContext context, const Legion::Operation& operation, const Select##Input& input, \
            Select##Output& output) override;
  GROMA_SOURCES(select_task_sources, Task, SelectTaskSrc)
  GROMA_SOURCES(select_inline_sources, InlineMapping, SelectInlineSrc)
  GROMA_SOURCES(select_copy_sources, Copy, SelectCopySrc)
  GROMA_SOURCES(select_close_sources, Close, SelectCloseSrc)
  GROMA_SOURCES(select_release_sources, Release, SelectReleaseSrc)
  GROMA_SOURCES(select_partition_sources, Partition, SelectPartitionSrc)
#undef GROMA_SOURCES
  void report_profiling(MapperContext context, const Legion::InlineMapping& operation,
                        const InlineProfilingInfo& info) override;
  void report_profiling(MapperContext context, const Legion::Copy& operation,
                        const CopyProfilingInfo& info) override;
  void report_profiling(MapperContext context, const Legion::Partition& operation,
                        const PartitionProfilingInfo& info) override;
  using DefaultMapper::report_profiling;
  void handle_instance_collection(MapperContext context,
                                  const Legion::Mapping::PhysicalInstance& instance) override;
  void select_task_variant(MapperContext context, const Legion::Task& task,
                           const SelectVariantInput& input, SelectVariantOutput& output) override;
  void map_future_map_reduction(MapperContext context, const FutureMapReductionInput& input,
                                FutureMapReductionOutput& output) override;

  // ---- Hooks that schedule ready tasks or set options of running tasks (adapter_order.cc)
  void select_tasks_to_map(MapperContext context, const SelectMappingInput& input,
                           SelectMappingOutput& output) override;
  void handle_message(MapperContext context, const MapperMessage& message) override;
  void configure_context(MapperContext context, const Legion::Task& task,
                         ContextConfigOutput& output) override;
  void memoize_operation(MapperContext context, const Legion::Mappable& operation,
                         const MemoizeInput& input, MemoizeOutput& output) override;
  void select_tunable_value(MapperContext context, const Legion::Task& task,
                            const SelectTunableInput& input, SelectTunableOutput& output) override;

  // ---- The hook for must epochs (adapter_must_epoch.cc)
  void map_must_epoch(MapperContext context, const MapMustEpochInput& input,
                      MapMustEpochOutput& output) override;

  // ---- Hooks for work stealing (adapter_stealing.cc)
  void select_steal_targets(MapperContext context, const SelectStealingInput& input,
                            SelectStealingOutput& output) override;
  void permit_steal_request(MapperContext context, const StealRequestInput& input,
                            StealRequestOutput& output) override;

  // ---- Hooks above a mapper of the program (adapter_overlay.cc, adapter_overlay_regions.cc)
  // The functions from here to note_reductions() are for an adapter above a mapper of the program.
  // Each receives that mapper's answer in `output` and changes what statements of the mapping
  // decide. For a task that no statement names, note_launched() is called instead.
  void note_launched(std::string_view task) { registration_->note_launched(task); }
  void overlay_options(MapperContext context, const Legion::Task& task, TaskOptions& output);
  void overlay_sharding(MapperContext context, const Legion::Task& task,
                        const SelectShardingFunctorInput& input,
                        SelectShardingFunctorOutput& output);
  void overlay_sharding(MapperContext context, const Legion::Task& task,
                        const SelectShardingFunctorInput& input,
                        MustEpochShardingFunctorOutput& output);
  void overlay_slices(MapperContext context, const Legion::Task& task, const SliceTaskInput& input,
                      SliceTaskOutput& output);
  // Changes the answer of map_task for a task. Returns true if the adapter has asked Legion to
  // report the end of the task.
  bool overlay_task(MapperContext context, const Legion::Task& task, const MapTaskInput& input,
                    MapTaskOutput& output);
  void overlay_must_epoch(MapperContext context, const MapMustEpochInput& input,
                          MapMustEpochOutput& output);
  // Stops counting a task against its instance limit on this processor. select_tasks_to_map()
  // counted the task here, but it runs on another processor.
  void stop_counting(MapperContext context, const Legion::Task& task);
  // Returns true if some task of the program may be stolen.
  bool steals() const { return registration_->any_task_stealable; }
  void note_reductions(const std::vector<Legion::RegionRequirement>& requirements) {
    registration_->reductions.note(requirements);
  }

 private:
  Processor groma_processor(Legion::Processor processor) const;
  Legion::Processor realm_processor(const Processor& processor) const {
    return processor == mapper_->site().local ? local_proc
                                              : registration_->machine->realm(processor);
  }
  Demands layout_demands_of(MapperContext context, const Legion::Task& task, VariantId id,
                            std::size_t position) const;
  void map_shared_instance(MapperContext context, HookBuffers& call, const MapMustEpochInput& input,
                           std::size_t index, const InstanceChoice* choice,
                           MapMustEpochOutput& output);
  void map_regions(MapperContext context, const Legion::Task& task, const MapTaskInput& input,
                   HookBuffers& call, MapTaskOutput& output);
  // Maps the groups of region requirements that the chosen variant demands in one instance. Element
  // i of `mapped` becomes true if the requirement at position i was mapped here.
  void map_colocated(MapperContext context, const Legion::Task& task, const MapTaskInput& input,
                     HookBuffers& call, MapTaskOutput& output, std::vector<bool>& mapped);
  void refuse_unknown_points(const Legion::Task& task, const TaskView& view) const;
  void fail_if_refused(const std::vector<Refusal>& refusals) const;
  // Reports a region requirement that got no instance, and ends the process.
  [[noreturn]] void fail(std::size_t position, std::string_view name, const InstanceChoice& choice,
                         const InstanceFailure& why) const;
  [[noreturn]] void fail(std::size_t position, std::string_view name, const InstanceFailure& why,
                         DecisionOrigin origin) const;

  using Requirements = std::vector<const Legion::RegionRequirement*>;
  const TaskView& operation_view(MapperContext context, const Legion::Mappable& operation,
                                 HookBuffers& call, const Requirements& requirements);
  const groma::MapOperationOutput& ask_choice_for_operation(MapperContext context,
                                                            const Legion::Mappable& operation,
                                                            HookBuffers& call,
                                                            const Requirements& requirements);
  void map_operation_requirement(MapperContext context, HookBuffers& call, std::size_t position,
                                 const Legion::RegionRequirement& requirement,
                                 const Demands& demands,
                                 std::vector<Legion::Mapping::PhysicalInstance>& chosen);
  Legion::ShardingID sharding_of(const TaskView& view, HookBuffers& call,
                                 const SelectShardingFunctorInput& input);
  Legion::ShardingID sharding_of(MapperContext context, const Legion::Mappable& operation,
                                 const SelectShardingFunctorInput& input);
  template <typename Operation, typename Input, typename Output>
  void rank_sources(MapperContext context, const Operation& operation, const Input& input,
                    Output& output);
  void pass_profiling_report(HookBuffers& call, const TaskView& view, OperationKind of,
                             const Legion::Mapping::ProfilingResponse& responses);

  void warn_choice_kept(std::string_view task, std::string_view what, std::string_view why,
                        DecisionOrigin origin);
  Processor next_processor_on_node(std::int64_t node, const Processor& otherwise);
  bool is_limited(const TaskView& view) const;
  bool function_places_points(const TaskView& view, ProcKind kind) const;
  template <typename Output>
  void overlay_sharding_of(MapperContext context, const Legion::Task& task,
                           const SelectShardingFunctorInput& input, Output& output);
  void apply_mapping_function(const Legion::Task& task, HookBuffers& call,
                              const VariantView& variant, bool shard, bool counted,
                              MapTaskOutput& output);
  std::vector<Legion::LogicalRegion> regions_to_cover(
      MapperContext context, const std::vector<Legion::LogicalRegion>& regions,
      const std::vector<Legion::LogicalRegion>& asked) const;
  InstanceRequestRecord request_for_instance(
      MapperContext context, const Legion::Mapping::PhysicalInstance& instance,
      const std::vector<Legion::LogicalRegion>& regions) const;
  void overlay_regions(MapperContext context, const Legion::Task& task, const MapTaskInput& input,
                       HookBuffers& call, const VariantView& variant, MapTaskOutput& output);
  void overlay_instance(MapperContext context, const Legion::Task& task, const TaskView& view,
                        const VariantView& variant, const ColocatedRequirements& group,
                        MapTaskOutput& output);
  void check_layout(MapperContext context, const Legion::Task& task, const TaskView& view,
                    const VariantView& variant, const ColocatedRequirements& group,
                    const InstanceRequestRecord& asked, const LayoutDecision& said,
                    MemKind memory) const;
  [[noreturn]] void refuse_layout(DiagId id, std::size_t position, std::string_view task,
                                  std::string_view wants, std::string_view says,
                                  const LayoutDecision& said) const;
  void replace_in_answer(const Legion::Mapping::PhysicalInstance& instance,
                         const ColocatedRequirements& group, MapTaskOutput& output) const;
  void overlay_outputs(const Legion::Task& task, const TaskView& view, const VariantView& variant,
                       MapTaskOutput& output);

  const std::vector<Processor>& steal_targets(HookBuffers& call,
                                              const std::vector<Processor>& refused);
  const std::vector<std::uint32_t>& tasks_given_to_thief(HookBuffers& call, const Processor& thief);
  void send_steal_message(MapperContext context, const Processor& whom, StealMessage message);
  void give_or_offer_tasks(MapperContext context, HookBuffers& call,
                           std::vector<const Legion::Task*>& waiting, SelectMappingOutput& output);
  void decline_steal_request(MapperContext context, const Processor& thief);
  void retry_task_selection(MapperContext context);
  void request_work_if_idle(MapperContext context, HookBuffers& call);
  bool handle_steal_message(MapperContext context, HookBuffers& call, const Processor& sender,
                            std::uint32_t kind);

  Legion::Mapping::MapperRuntime* mapper_runtime_;
  std::shared_ptr<Registration> registration_;
  std::unique_ptr<groma::Mapper> mapper_;
  std::string name_;
  TaskViews views_;
  Instances instances_;
  MapperEvents events_;
  // The event for which Legion lets ready tasks wait until some can be mapped. 0 if there is none.
  MapperEvent deferral_ = 0;
  StealingState stealing_;
  HookBufferPool calls_;
  bool decides_operations_;
  // The program of the mapping. Null if the mapper is not a ProgramMapper.
  const Program* program_ = nullptr;
  // True if the layouts that the program's mapper requests are only its defaults, and no demands of
  // the tasks (requests_default_layouts() in overlay.h).
  bool program_requests_only_defaults_ = false;
  // A counter for the round robin of next_processor_on_node(). Its remainder modulo the number of
  // processors is the index of the next processor.
  std::int64_t next_near_ = 0;
};

// Returns true if the instance of this region requirement was chosen before, when its must epoch
// was mapped.
bool is_premapped(const Legion::Mapping::Mapper::MapTaskInput& input, std::size_t position);

// Adds to `requests` the profiling measurements that a mapper wants of an operation.
void add_profiling_measurements(const RequestedMeasurements& choice,
                                Legion::Mapping::ProfilingRequest& requests);

// Returns true if the mapper is written by hand. Only such a mapper decides about copies, inline
// mappings and other operations than tasks.
bool decides_operations(const groma::Mapper& mapper);

// Makes the adapter for one processor, which Legion then owns. Returns null if the factory makes no
// mapper for the processor, or if Groma has no name for its kind. `in_turn`: true if the caller
// runs the hooks of the adapter one after the other (HookDependencies).
Adapter* make_adapter(const std::shared_ptr<Registration>& registration, Legion::Runtime* runtime,
                      const Legion::Machine& machine, Legion::Processor processor,
                      bool in_turn = false);

// Returns a function that puts the mapping above a mapper of the program, like the public
// wrapper(). In addition, `heard` is told which statement decided the memory for the data of each
// requirement, and `asked` has the instance requests of the program's mappers. `asked` is null if
// nothing observes these requests.
Wrap wrapper(const Program& program, const Options& options, RecordMemoryOrigin heard,
             std::shared_ptr<RequestedInstances> asked);

// Returns a factory of ProgramMappers for the program, which is bound to the machine when the first
// mapper is made. `log`: see Options::log. `warns`: false if warnings of the binding are dropped
// instead of logged.
MapperFactory factory_of(const Program& program, LogSink* log, bool warns = true);

}  // namespace groma::legion
