// The hooks of an adapter above a mapper of the program. Each function receives the answer of that
// mapper and changes the parts that statements decide. A task may rely on its mapper's choice of a
// data order, a memory pool or a variant. A choice that cannot be changed safely is kept, and the
// log says so once.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/one_diagnostic.h"
#include "legion/adapter.h"
#include "mapper/decisions.h"
#include "mapper/default_policy.h"

namespace groma::legion {

using Legion::Mapping::PhysicalInstance;
using Regions = TaskViews::Regions;

namespace {

// Returns the variant with this id, or null if the task has none.
const VariantView* find_variant(std::span<const VariantView> variants, Legion::VariantID id) {
  const auto found = std::find_if(variants.begin(), variants.end(),
                                  [id](const VariantView& one) { return one.id == id; });
  return found == variants.end() ? nullptr : &*found;
}

}  // namespace

// ---- Choices of the program's mapper that are kept

// Warns that a statement has no effect, because a choice of the program's mapper was kept. `what`
// names the choice, such as "the processor", and `why` gives the reason.
void Adapter::warn_choice_kept(std::string_view task, std::string_view what, std::string_view why,
                               DecisionOrigin origin) {
  registration_->warn_once(diagnostic_without_source(DiagId::kKeptByMapper, what, task, why),
                           origin, *mapper_);
}

namespace {

// A message: the reason why the placement of a concurrent launch is kept. Its points run at the
// same time and may send messages to each other.
constexpr std::string_view kTalking =
    "the points of a concurrent launch may rely on the processors that it chose";

}  // namespace

// ---- Options of tasks

// Applies the statements that decide a task's options (processor, stealing, limits, control
// replication) to the answer of the program's mapper. An answer that names a processor which Groma
// cannot describe is left unchanged.
void Adapter::overlay_options(MapperContext context, const Legion::Task& task,
                              TaskOptions& output) {
  const auto own = registration_->machine->processor(output.initial_proc);
  if (!own) return;
  HookBufferPool::BufferUse call(calls_, context);
  views_.make(context, task, groma_processor(task.current_proc), Regions::kNamed, call->storage);
  TaskView& view = call->storage.view;
  view.own_kind = own->kind;
  refuse_unknown_points(task, view);
  groma::TaskOptions& answer = call->options;
  answer.clear();
  mapper_->select_task_options(call->hands, view, answer);
  fail_if_refused(validate(answer, view, mapper_->machine()));
  // A statement may ask for another kind of processor, for a certain processor, or for a function
  // that places the points. All three are unsafe for a concurrent launch.
  const bool other_kind = answer.kind_origin && answer.initial.kind != own->kind;
  const bool places =
      answer.processor_origin || (view.is_index && function_places_points(view, own->kind));
  if (task.concurrent_task && (other_kind || places)) {
    warn_choice_kept(view.name, "the placement", kTalking,
                     other_kind ? answer.kind_origin : answer.processor_origin);
  } else if (other_kind || answer.processor_origin) {
    const Processor to = answer.processor_origin
                             ? answer.initial
                             : next_processor_on_node(own->node, answer.initial);
    output.initial_proc = realm_processor(to);
    // The statement decides where the task runs. An inlined task would run on the processor of its
    // parent instead.
    output.inline_task = false;
  }
  // A limit on the number of instances of a task could stop some points for ever while the others
  // wait for them.
  if (view.rendezvous) {
    const auto limit = program_->instance_limit(view.name, own->kind);
    if (limit && limit->limit > 0) {
      warn_choice_kept(view.name, "the number of instances", "its points wait for each other",
                       limit->origin);
    }
  }
  if (answer.steal_origin) {
    output.stealable = true;
    registration_->note_stealable(task.task_id);
  }
  if (answer.replicate_origin && answer.replicate) {
    output.replicate = true;
    output.map_locally = output.inline_task = false;
  }
  // Legion asks no mapper during the replay of a trace, and it maps points that share a collective
  // region together. Tasks with a limit must be mapped one by one, so they allow neither. Tasks
  // that may be stolen are not traced either.
  if (is_limited(view)) output.check_collective_regions.clear();
  if (is_limited(view) || answer.steal_origin) output.memoize = false;
}

// Returns a processor on the node, of the same kind as `otherwise`, in turn. Returns `otherwise` if
// it is on that node already, or if the node has no processor of the kind.
Processor Adapter::next_processor_on_node(std::int64_t node, const Processor& otherwise) {
  const std::int64_t count = mapper_->machine().processor_count(node, otherwise.kind);
  if (count == 0 || node == otherwise.node) return otherwise;
  return {otherwise.kind, node, next_near_++ % count};
}

// Returns true if a statement limits how many instances of the task run at once on its processor
// kind. A limit does not count for a task whose points wait for each other.
bool Adapter::is_limited(const TaskView& view) const {
  if (!view.own_kind || view.rendezvous) return false;
  const auto limit = program_->instance_limit(view.name, *view.own_kind);
  return limit && limit->limit > 0;
}

// Returns true if a mapping function places the points of the index launch, or the single task, on
// processors.
bool Adapter::function_places_points(const TaskView& view, ProcKind kind) const {
  return groma::mapper::decide_function(*program_, view, kind).has_value();
}

// ---- Sharding and slicing of index launches

// Replaces the sharding functor of an index launch if a mapping function places its points, so that
// each point is mapped by the shard on the node where it runs. A concurrent launch outside a must
// epoch keeps its functor.
template <typename Output>
void Adapter::overlay_sharding_of(MapperContext context, const Legion::Task& task,
                                  const SelectShardingFunctorInput& input, Output& output) {
  HookBufferPool::BufferUse call(calls_, context);
  const TaskView& view = views_.make(context, task, groma_processor(task.current_proc),
                                     Regions::kNamed, call->storage);
  if (task.concurrent_task && !task.must_epoch_task) return;
  if (!view.is_index || !function_places_points(view, groma_processor(task.target_proc).kind))
    return;
  output.chosen_functor = sharding_of(view, *call, input);
}

void Adapter::overlay_sharding(MapperContext context, const Legion::Task& task,
                               const SelectShardingFunctorInput& input,
                               SelectShardingFunctorOutput& output) {
  overlay_sharding_of(context, task, input, output);
}

void Adapter::overlay_sharding(MapperContext context, const Legion::Task& task,
                               const SelectShardingFunctorInput& input,
                               MustEpochShardingFunctorOutput& output) {
  overlay_sharding_of(context, task, input, output);
}

// Slices the launch again if statements decide where its points go. Otherwise the slices of the
// program's mapper are kept. If the task has a limit or may be stolen, each point becomes one
// slice.
void Adapter::overlay_slices(MapperContext context, const Legion::Task& task,
                             const SliceTaskInput& input, SliceTaskOutput& output) {
  // A concurrent launch outside a must epoch keeps its slices. overlay_options() has logged why the
  // statements have no effect on it.
  if (task.concurrent_task && !task.must_epoch_task) return;
  bool cuts_anew = false, by_point = false, stealable = false;
  {
    HookBufferPool::BufferUse call(calls_, context);
    const TaskView& view = views_.make(context, task, groma_processor(task.target_proc),
                                       Regions::kNamed, call->storage);
    const auto kind = groma::mapper::decide_kind(*program_, view, mapper_->machine());
    // The task has no variant for a processor kind that the statements allow. overlay_options() has
    // logged why the statements have no effect.
    if (!kind) return;
    const auto is_other = [&](const Legion::Mapping::Mapper::TaskSlice& slice) {
      return groma_processor(slice.proc).kind != kind->kind;
    };
    // The slices of the program's mapper cannot be kept if a function places the points, or if a
    // Task statement names another processor kind than that of a slice.
    cuts_anew = function_places_points(view, kind->kind) ||
                (kind->origin && std::any_of(output.slices.begin(), output.slices.end(), is_other));
    stealable = program_->task_steal(view.name, kind->kind).has_value();
    by_point = is_limited(view) || stealable;
  }
  if (cuts_anew) {
    output.slices.clear();
    return slice_task(context, task, input, output);
  }
  if (stealable) registration_->note_stealable(task.task_id);
  if (!by_point) return;
  // Each point becomes a slice, because the limit counts each point on the processor that the
  // program's mapper chose. A slice that Legion will ask about again (`recurse`) is cut later.
  std::vector<Legion::Mapping::Mapper::TaskSlice> points;
  for (const Legion::Mapping::Mapper::TaskSlice& slice : output.slices) {
    if (slice.recurse) {
      points.push_back(slice);
      continue;
    }
    const Legion::Domain domain =
        slice.domain_is.exists() ? mapper_runtime_->get_index_space_domain(context, slice.domain_is)
                                 : slice.domain;
    for (Legion::Domain::DomainPointIterator at(domain); at; ++at) {
      points.emplace_back(Legion::Domain(at.p, at.p), slice.proc, false,
                          slice.stealable || stealable);
    }
  }
  output.slices = std::move(points);
}

// ---- Mapping of one task

// Applies the statements that decide a task's processor, instances and output regions. Asks Legion
// to report the end of the task if the task counts against a limit or if any tasks may be stolen.
bool Adapter::overlay_task(MapperContext context, const Legion::Task& task,
                           const MapTaskInput& input, MapTaskOutput& output) {
  HookBufferPool::BufferUse call(calls_, context, HookSubject::kMapping);
  const bool shard = input.shard_processor.exists();
  const Legion::Processor target = shard ? input.shard_processor : task.target_proc;
  views_.make(context, task, groma_processor(target), Regions::kNamed, call->storage);
  TaskView& view = call->storage.view;
  const VariantView* variant = find_variant(view.variants, output.chosen_variant);
  // Legion reports the error if the mapper gave no target processor or an unknown variant.
  if (variant == nullptr || output.target_procs.empty()) return false;
  view.own_kind = variant->kind;
  if (shard) view.shard_variant = variant->id;
  const bool limited = is_limited(view);
  const bool counted = limited || program_->task_steal(view.name, variant->kind).has_value();
  apply_mapping_function(task, *call, *variant, shard, counted, output);
  overlay_regions(context, task, input, *call, *variant, output);
  if (!limited && !registration_->any_task_stealable) return false;
  RequestedMeasurements choice;
  choice.status = true;
  add_profiling_measurements(choice, output.task_prof_requests);
  ++stealing_.mapped;
  return true;
}

// Moves the task to the processor that the mapping function of an IndexTaskMap or SingleTaskMap
// statement returns. A shard, or a point of a concurrent launch, stays on its processor. `counted`:
// the task has an InstanceLimit or may be stolen. Such a task was counted on one processor when it
// was mapped, and must run there.
void Adapter::apply_mapping_function(const Legion::Task& task, HookBuffers& call,
                                     const VariantView& variant, bool shard, bool counted,
                                     MapTaskOutput& output) {
  TaskView& view = call.storage.view;
  if (shard || (task.concurrent_task && !task.must_epoch_task)) return;
  const auto kind = groma::mapper::decide_kind(*program_, view, mapper_->machine());
  if (!kind || (kind->origin && kind->kind != variant.kind)) {
    if (kind) {
      warn_choice_kept(view.name, "the processor kind",
                       fmt::format("it runs the task by variant {}, which is for {}", variant.id,
                                   name_of(variant.kind)),
                       kind->origin);
    }
    return;
  }
  // `wanted`: the processors on which the statements let the task run. `origin`: the statement that
  // a warning names.
  std::vector<Legion::Processor> wanted;
  DecisionOrigin origin = kind->origin;
  const auto function =
      counted ? std::nullopt : groma::mapper::decide_function(*program_, view, kind->kind);
  if (!counted && !function) return;
  if (function) origin = function->origin;
  if (view.current.kind != variant.kind) {
    return warn_choice_kept(
        view.name, "the processor",
        fmt::format("it runs the task, which was sent to a {}, by variant {}, which "
                    "is for {}",
                    name_of(view.current.kind), variant.id, name_of(variant.kind)),
        origin);
  }
  // A task that was counted against its limit stays on the processor where it was counted.
  if (counted) {
    wanted.push_back(task.target_proc);
  } else {
    // All tasks of a must epoch got their processors when the epoch was mapped, so this task stays.
    if (task.must_epoch_task) return;
    groma::MapTaskOutput& answer = call.choice;
    answer.clear();
    mapper_->map_task(call.hands, view, {}, answer);
    if (answer.failure) fail_if_refused({{*answer.failure, answer.processor_origin}});
    for (const Processor& p : answer.processors) wanted.push_back(realm_processor(p));
  }
  if (wanted.empty() || wanted == output.target_procs) return;
  // The program's mapper made the task's instances and memory pools for the processors that it
  // chose. The task can move only if each new processor reaches all these memories.
  const auto serves = [&](Legion::Memory memory) {
    return std::all_of(wanted.begin(), wanted.end(),
                       [&](Legion::Processor p) { return can_address(p, memory); });
  };
  bool all = true;
  for (const auto& instances : output.chosen_instances) {
    for (const PhysicalInstance& instance : instances) {
      all = all && (instance.is_virtual_instance() || serves(instance.get_location()));
    }
  }
  for (const auto& [memory, bounds] : output.leaf_pool_bounds) all = all && serves(memory);
  if (all) {
    output.target_procs = std::move(wanted);
  } else {
    warn_choice_kept(view.name, "the processor",
                     "it put data or a pool into a memory that the other processor does not reach",
                     origin);
  }
}

// ---- Must epochs

// Places the tasks of a must epoch as statements decide. Each task needs a processor for itself. If
// two tasks would share one, all tasks of the epoch are placed anew.
void Adapter::overlay_must_epoch(MapperContext context, const MapMustEpochInput& input,
                                 MapMustEpochOutput& output) {
  HookBufferPool::BufferUse call(calls_, context, HookSubject::kMapping);
  call->tasks.clear();
  std::vector<bool> decided;
  DecisionOrigin origin;
  for (std::size_t i = 0; i < input.tasks.size(); ++i) {
    const Processor own = groma_processor(output.task_processors[i]);
    call->tasks.add(views_, context, *input.tasks[i], own);
    const TaskView& view = call->tasks.views().back();
    const auto kind = groma::mapper::decide_kind(*program_, view, mapper_->machine());
    if (!kind)
      fail_if_refused({{groma::mapper::no_kind_error(*program_, view, mapper_->machine()), {}}});
    const auto function = groma::mapper::decide_function(*program_, view, kind->kind);
    decided.push_back(function || (kind->origin && kind->kind != own.kind));
    if (decided.back()) origin = function ? function->origin : kind->origin;
  }
  if (std::find(decided.begin(), decided.end(), true) == decided.end()) return;
  groma::MapMustEpochOutput& answer = call->must_epoch;
  answer.clear();
  mapper_->map_must_epoch(call->hands, call->tasks.views(), answer);
  fail_if_refused(validate(answer, call->tasks.views(), mapper_->machine()));
  std::vector<Legion::Processor> processors = output.task_processors;
  for (std::size_t i = 0; i < processors.size(); ++i) {
    if (decided[i]) processors[i] = realm_processor(answer.processors[i]);
  }
  // Two equal neighbours in the sorted list are two tasks on one processor.
  std::vector<Legion::Processor> sorted = processors;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
    for (std::size_t i = 0; i < processors.size(); ++i)
      processors[i] = realm_processor(answer.processors[i]);
  }
  // The program's mapper has chosen the shared instances already. The new processors must reach
  // them.
  for (std::size_t c = 0; c < input.constraints.size(); ++c) {
    for (const Legion::Task* task : input.constraints[c].constrained_tasks) {
      const auto at = std::find(input.tasks.begin(), input.tasks.end(), task) - input.tasks.begin();
      for (const PhysicalInstance& instance : output.constraint_mappings[c]) {
        if (can_address(processors[static_cast<std::size_t>(at)], instance.get_location()))
          continue;
        return warn_choice_kept(task->get_task_name(), "the placement in a must epoch",
                                "the processors do not all reach the data that its tasks share",
                                origin);
      }
    }
  }
  output.task_processors = std::move(processors);
}

// ---- Counting of tasks against limits

// Tells the mapper that the task no longer counts against its limit on this processor, as if the
// task had ended without success.
void Adapter::stop_counting(MapperContext context, const Legion::Task& task) {
  HookBufferPool::BufferUse call(calls_, context);
  const TaskView& view =
      views_.make(context, task, groma_processor(task.target_proc), Regions::kNone, call->storage);
  ProfilingReport report;
  report.completed = false;
  mapper_->report_profiling(call->hands, view, report);
}

}  // namespace groma::legion
