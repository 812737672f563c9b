// The hooks for operations other than tasks. If the mapper is a mapping program or Groma's default
// mapper, Legion's DefaultMapper handles these operations, because no statement decides them. Only
// a mapper written by hand decides them itself.
#include <algorithm>

#include "base/one_diagnostic.h"
#include "groma/program_mapper.h"
#include "legion/adapter.h"

namespace groma::legion {

bool decides_operations(const groma::Mapper& mapper) {
  return dynamic_cast<const ProgramMapper*>(&mapper) == nullptr &&
         dynamic_cast<const groma::DefaultMapper*>(&mapper) == nullptr;
}

// Returns a view of an operation other than a task, on the processor of its parent task. For an
// operation without a parent task, this is the adapter's own processor.
const TaskView& Adapter::operation_view(MapperContext context, const Legion::Mappable& operation,
                                        HookBuffers& call, const Requirements& requirements) {
  const Legion::Task* parent = operation.get_parent_task();
  const Processor near =
      parent == nullptr ? mapper_->site().local : groma_processor(parent->current_proc);
  return views_.make(context, operation, near, call.storage, requirements);
}

// Asks the mapper for its choices for an operation other than a task, and validates the answer. The
// answer is valid until `call` is used again.
const MapOperationOutput& Adapter::ask_choice_for_operation(MapperContext context,
                                                            const Legion::Mappable& operation,
                                                            HookBuffers& call,
                                                            const Requirements& requirements) {
  const TaskView& view = operation_view(context, operation, call, requirements);
  groma::MapOperationOutput& answer = call.operation;
  answer.clear();
  mapper_->map_operation(call.hands, view, {}, answer);
  fail_if_refused(validate(answer, view, mapper_->machine()));
  return answer;
}

// Finds or makes the instance of one requirement of an operation and appends it to `chosen`. Ends
// the process if there is none. An operation other than a task cannot use a virtual instance.
void Adapter::map_operation_requirement(MapperContext context, HookBuffers& call,
                                        std::size_t position,
                                        const Legion::RegionRequirement& requirement,
                                        const Demands& demands,
                                        std::vector<Legion::Mapping::PhysicalInstance>& chosen) {
  const TaskView& view = call.storage.view;
  if (view.requirements[position].empty()) return;
  const InstanceChoice& choice = call.operation.requirements[position];
  std::vector<Legion::Processor> near = {realm_processor(view.current)};
  InstanceFailure why;
  if (instances_.add_instance_for(context, requirement, nullptr, choice, demands, "nobody maps it",
                                  near, chosen, &why)) {
    return;
  }
  fail(position, name_of(view.operation), choice, why);
}

// ---- Inline mappings, copies, partitions

// Maps an inline mapping. Its launcher may name a registered layout, which the instance must meet.
// Legion keeps track of an instance to which the program reduces, even if the mapper chooses
// otherwise.
void Adapter::map_inline(MapperContext context, const Legion::InlineMapping& operation,
                         const MapInlineInput& input, MapInlineOutput& output) {
  registration_->reductions.note({operation.requirement});
  if (!decides_operations_) return DefaultMapper::map_inline(context, operation, input, output);
  HookBufferPool::BufferUse call(calls_, context, HookSubject::kMapping);
  const groma::MapOperationOutput& choice =
      ask_choice_for_operation(context, operation, *call, {&operation.requirement});
  Demands demands;
  if (operation.layout_constraint_id != 0) {
    demands.push_back(
        &mapper_runtime_->find_layout_constraints(context, operation.layout_constraint_id));
  }
  map_operation_requirement(context, *call, 0, operation.requirement, demands,
                            output.chosen_instances);
  add_profiling_measurements(choice.profiling, output.profiling_requests);
  output.profiling_priority = choice.profiling_priority;
  output.track_valid_region =
      choice.track_valid || registration_->reductions.why_tracked(operation.requirement) != nullptr;
}

// Maps the region requirements of a copy in the order that Legion uses in messages: sources,
// destinations, source indirections, destination indirections. `position` counts through all four
// groups.
void Adapter::map_copy(MapperContext context, const Legion::Copy& operation,
                       const MapCopyInput& input, MapCopyOutput& output) {
  registration_->reductions.note(operation.dst_requirements);
  if (!decides_operations_) return DefaultMapper::map_copy(context, operation, input, output);
  struct CopySide {
    const std::vector<Legion::RegionRequirement>* requirements;
    const std::vector<std::vector<Legion::Mapping::PhysicalInstance>>* valid;
    std::vector<std::vector<Legion::Mapping::PhysicalInstance>>* chosen;
    // An indirection requirement of a copy has only one instance.
    std::vector<Legion::Mapping::PhysicalInstance>* chosen_one;
  };
  const CopySide sides[] = {
      {&operation.src_requirements, &input.src_instances, &output.src_instances, nullptr},
      {&operation.dst_requirements, &input.dst_instances, &output.dst_instances, nullptr},
      {&operation.src_indirect_requirements, &input.src_indirect_instances, nullptr,
       &output.src_indirect_instances},
      {&operation.dst_indirect_requirements, &input.dst_indirect_instances, nullptr,
       &output.dst_indirect_instances}};
  HookBufferPool::BufferUse call(calls_, context, HookSubject::kMapping);
  std::vector<const Legion::RegionRequirement*> all;
  for (const CopySide& side : sides) {
    for (const Legion::RegionRequirement& one : *side.requirements) all.push_back(&one);
  }
  const groma::MapOperationOutput& choice =
      ask_choice_for_operation(context, operation, *call, all);
  std::size_t position = 0;
  for (const CopySide& side : sides) {
    for (std::size_t i = 0; i < side.requirements->size(); ++i, ++position) {
      const Legion::RegionRequirement& requirement = (*side.requirements)[i];
      std::vector<Legion::Mapping::PhysicalInstance> chosen;
      // A copy with a restricted requirement must use the existing instance.
      if (requirement.is_restricted()) {
        chosen = (*side.valid)[i];
        mapper_runtime_->acquire_and_filter_instances(context, chosen);
      } else {
        map_operation_requirement(context, *call, position, requirement, {}, chosen);
      }
      if (side.chosen != nullptr) {
        (*side.chosen)[i] = chosen;
      } else if (!chosen.empty()) {
        (*side.chosen_one)[i] = chosen.front();
      }
    }
  }
  add_profiling_measurements(choice.profiling, output.profiling_requests);
  output.profiling_priority = choice.profiling_priority;
}

// Maps the region whose data decides a partition, for example a field of colours.
void Adapter::map_partition(MapperContext context, const Legion::Partition& operation,
                            const MapPartitionInput& input, MapPartitionOutput& output) {
  if (!decides_operations_) return DefaultMapper::map_partition(context, operation, input, output);
  HookBufferPool::BufferUse call(calls_, context, HookSubject::kMapping);
  const groma::MapOperationOutput& choice =
      ask_choice_for_operation(context, operation, *call, {&operation.requirement});
  map_operation_requirement(context, *call, 0, operation.requirement, {}, output.chosen_instances);
  add_profiling_measurements(choice.profiling, output.profiling_requests);
  output.profiling_priority = choice.profiling_priority;
  output.track_valid_region =
      choice.track_valid || registration_->reductions.why_tracked(operation.requirement) != nullptr;
}

// ---- Sharding of the points of operations

// Returns the sharding functor of a copy, fill or other operation in a replicated task. The view
// has no requirements, because no functor reads them.
Legion::ShardingID Adapter::sharding_of(MapperContext context, const Legion::Mappable& operation,
                                        const SelectShardingFunctorInput& input) {
  HookBufferPool::BufferUse call(calls_, context);
  const TaskView& view = operation_view(context, operation, *call, {});
  return sharding_of(view, *call, input);
}

#define GROMA_SHARDING(Operation)                                                                  \
  void Adapter::select_sharding_functor(MapperContext context, const Legion::Operation& operation, \
                                        const SelectShardingFunctorInput& input,                   \
                                        SelectShardingFunctorOutput& output) {                     \
    output.chosen_functor = sharding_of(context, operation, input);                                \
  }
GROMA_SHARDING(Copy)
GROMA_SHARDING(Close)
GROMA_SHARDING(Acquire)
GROMA_SHARDING(Release)
GROMA_SHARDING(Partition)
GROMA_SHARDING(Fill)
#undef GROMA_SHARDING

// ---- Source instances of copies. Those that the mapper does not name follow after those it names.

namespace {

// Each overload of region_of() returns the region of the requirement for which Legion asks a mapper
// to choose source instances. A copy operation has four lists of requirements. Flags of the input
// tell in which of these lists `region_req_index` is a position.
template <typename Input>
Legion::LogicalRegion region_of(const Legion::Task& task, const Input& input) {
  return task.regions[input.region_req_index].region;
}
template <typename Input>
Legion::LogicalRegion region_of(const Legion::Copy& copy, const Input& input) {
  const auto& side = input.is_src            ? copy.src_requirements
                     : input.is_dst          ? copy.dst_requirements
                     : input.is_src_indirect ? copy.src_indirect_requirements
                                             : copy.dst_indirect_requirements;
  return side[input.region_req_index].region;
}
template <typename Input>
Legion::LogicalRegion region_of(const Legion::Release& release, const Input&) {
  return release.logical_region;
}
template <typename Operation, typename Input>
Legion::LogicalRegion region_of(const Operation& operation, const Input&) {
  return operation.requirement.region;
}

}  // namespace

// Asks the mapper from which source instances a copy should read first. Unknown and repeated
// indices in its answer are ignored.
template <typename Operation, typename Input, typename Output>
void Adapter::rank_sources(MapperContext context, const Operation& operation, const Input& input,
                           Output& output) {
  HookBufferPool::BufferUse call(calls_, context, HookSubject::kMapping);
  const TaskView& view = operation_view(context, operation, *call, {});
  const RegionId region = registration_->regions.of(region_of(operation, input));
  InstanceViews& views = call->instances;
  views.clear();
  views.add(input.target, region, *registration_->machine);
  for (const auto& source : input.source_instances) {
    views.add(source, region, *registration_->machine);
  }
  std::vector<std::uint32_t>& answer = call->indices;
  answer.clear();
  mapper_->select_sources(call->hands, view, views.all().front(), views.all().subspan(1), answer);
  // Element i of `named` is true once the mapper's answer has named source instance i.
  std::vector<bool> named(input.source_instances.size());
  for (const std::uint32_t index : answer) {
    if (index >= named.size() || named[index]) continue;
    named[index] = true;
    output.chosen_ranking.push_back(input.source_instances[index]);
  }
}

#define GROMA_SOURCES(hook, Operation, Select)                                  \
  void Adapter::hook(MapperContext context, const Legion::Operation& operation, \
                     const Select##Input& input, Select##Output& output) {      \
    if (!decides_operations_) {                                                 \
      return DefaultMapper::hook(context, operation, input, output);            \
    }                                                                           \
    rank_sources(context, operation, input, output);                            \
  }
GROMA_SOURCES(select_task_sources, Task, SelectTaskSrc)
GROMA_SOURCES(select_inline_sources, InlineMapping, SelectInlineSrc)
GROMA_SOURCES(select_copy_sources, Copy, SelectCopySrc)
GROMA_SOURCES(select_close_sources, Close, SelectCloseSrc)
GROMA_SOURCES(select_release_sources, Release, SelectReleaseSrc)
GROMA_SOURCES(select_partition_sources, Partition, SelectPartitionSrc)
#undef GROMA_SOURCES

// ---- Profiling reports. DefaultMapper aborts on any report, because it requests none.

#define GROMA_REPORT(Operation, Info)                                                       \
  void Adapter::report_profiling(MapperContext context, const Legion::Operation& operation, \
                                 const Info& info) {                                        \
    if (info.total_reports == 0) return; /* nothing was copied */                           \
    HookBufferPool::BufferUse call(calls_, context);                                        \
    const TaskView& view = operation_view(context, operation, *call, {});                   \
    pass_profiling_report(*call, view,                                                      \
                          info.fill_response ? OperationKind::kFill : OperationKind::kCopy, \
                          info.profiling_responses);                                        \
  }
GROMA_REPORT(InlineMapping, InlineProfilingInfo)
GROMA_REPORT(Copy, CopyProfilingInfo)
GROMA_REPORT(Partition, PartitionProfilingInfo)
#undef GROMA_REPORT

// Tells the mapper that an instance is destroyed, if the mapper was given the instance before.
// Other instances have no number, and the mapper does not know them.
void Adapter::handle_instance_collection(MapperContext context,
                                         const Legion::Mapping::PhysicalInstance& instance) {
  HookBufferPool::BufferUse call(calls_, context, HookSubject::kNoOperation);
  const InstanceId number = instances_.forget(instance);
  if (number != 0) mapper_->handle_instance_collection(call->hands, number);
}

// ---- Variants of inlined tasks, memories of reduced futures

// Chooses the variant of a task that is inlined, for which Legion does not call map_task. The
// number 0 means that the mapper found no variant for this processor.
void Adapter::select_task_variant(MapperContext context, const Legion::Task& task,
                                  const SelectVariantInput& input, SelectVariantOutput& output) {
  HookBufferPool::BufferUse call(calls_, context);
  const TaskView& view = views_.make(context, task, groma_processor(input.processor),
                                     TaskViews::Regions::kNamed, call->storage);
  output.chosen_variant = mapper_->select_task_variant(call->hands, view);
  if (output.chosen_variant != 0) return;
  registration_->fail(diagnostic_without_source(DiagId::kBadVariant, "select_task_variant",
                                                view.name, 0, "which the task does not have"),
                      {}, mapper_.get());
}

// Chooses the memories for the result of a reduction over the futures of an index launch. If the
// mapper names no memory, Legion chooses.
void Adapter::map_future_map_reduction(MapperContext context, const FutureMapReductionInput& input,
                                       FutureMapReductionOutput& output) {
  HookBufferPool::BufferUse call(calls_, context);
  std::vector<Memory>& answer = call->memories;
  answer.clear();
  mapper_->map_future_map_reduction(call->hands, input.tag, answer);
  for (const Memory& memory : answer) {
    output.destination_memories.push_back(registration_->machine->realm(memory));
  }
}

}  // namespace groma::legion
