// Answers the hooks for tasks. Each hook converts Legion's task to a view, asks the groma::Mapper,
// validates the answer and converts it to Legion's form. If a program does not fit its machine, the
// process ends with a message; Legion would end it without one.
#include "legion/adapter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "base/one_diagnostic.h"
#include "groma/program_mapper.h"
#include "mapper/default_policy.h"
#include "mapper/unhonoured.h"
#include "mapper/variant_layouts.h"

namespace groma::legion {

using Regions = TaskViews::Regions;

namespace {

// The largest number of different warnings that are logged. A program may launch any number of
// tasks, so without a limit the memory for the warnings already logged could grow for ever.
constexpr std::size_t kMaxWarnings = 256;

// Returns the statement to name in the message that a region requirement got no instance: the
// statement that chose the memory of the choice's first candidate, otherwise the one that chose its
// layout. The result is empty if the choice has no candidate or no statement chose either.
DecisionOrigin decided_first(const InstanceChoice& choice) {
  if (choice.candidate_count == 0) return {};
  const InstanceCandidate& first = choice.candidates().front();
  return first.memory_origin ? first.memory_origin : first.layout_origin;
}

}  // namespace

bool is_premapped(const Legion::Mapping::Mapper::MapTaskInput& input, std::size_t position) {
  const auto& premapped = input.premapped_regions;
  return std::find(premapped.begin(), premapped.end(), position) != premapped.end();
}

// ---- Errors and warnings

// Logs an error and ends the process. If `mapper` is null, no mapper exists yet, and the message
// shows no statement. All open files are flushed before the end, because _Exit() does not do so.
void Registration::fail(const Diagnostic& diagnostic, DecisionOrigin origin,
                        const Mapper* mapper) const {
  if (mapper != nullptr) {
    log()->log(LogLevel::kError, render(Refusal{diagnostic, origin}, *mapper));
  } else {
    Diagnostic shown = diagnostic;
    groma::mapper::add_refusal_help(shown);
    log()->log(LogLevel::kError, render(Source(), shown));
  }
  std::fflush(nullptr);
  std::_Exit(1);
}

// Logs a warning unless it was logged before. Two tasks with the same message count as one. Beyond
// kMaxWarnings different messages, further warnings are dropped.
void Registration::warn_once(const Diagnostic& diagnostic, DecisionOrigin origin,
                             const Mapper& mapper) {
  {
    const std::lock_guard lock(mutex_);
    if (warned_.size() >= kMaxWarnings || !warned_.insert(diagnostic.message).second) return;
  }
  Diagnostic shown = diagnostic;
  const std::string who = mapper.describe(origin);
  if (!who.empty()) shown.note("decided otherwise by " + who);
  log()->log(LogLevel::kWarning, render(mapper.source(), shown));
}

// ---- Names in the mapping that no task or region has.
// Legion does not tell which tasks are registered, so the names are known only at the end of the
// run. Each process sees its own launches. Only the first process, which runs the top-level task,
// reports unknown names, from what it saw itself.

void Registration::on_adapter_start() {
  const std::lock_guard lock(mutex_);
  ++adapters_;
}

// Notes the name of a task that no statement names. The task is entered with 0 requirements,
// because the adapter did not look at its regions.
void Registration::note_launched(std::string_view task) {
  const std::lock_guard lock(mutex_);
  names_.tasks.try_emplace(std::string(task), 0);
}

// Called when an adapter ends. Adds the task and region names that this adapter saw. When the last
// adapter ends, the stored instance requests are removed, and the first process reports names in
// the mapping that no task or region of the run has. It does not report them if `groma run --map`
// has put another mapping above this one, which sees the same tasks.
void Registration::on_adapter_end(const Mapper& mapper, const groma::mapper::NamesOfRun& names) {
  const std::lock_guard lock(mutex_);
  names_.merge_names(names);
  const auto* of_program = dynamic_cast<const ProgramMapper*>(&mapper);
  if (--adapters_ > 0) return;
  // The Legion runtime ends here. The function that wraps mappers may live longer and keeps
  // `instance_requests`, so the stored requests are removed now.
  if (instance_requests != nullptr) instance_requests->clear();
  if (of_program == nullptr) return;
  if (names_.tasks.empty() || is_below_run_mapping || mapper.site().local.node != 0) return;
  const bool is_alone = mapper.machine().node_count() == 1;
  const std::string_view where = is_alone ? "" : " in the first process";
  groma::mapper::log_unknown_names(of_program->program(), names_, *log(), where);
  groma::mapper::log_unknown_overrides(options.override_layouts, names_, *log(), where);
}

// Makes an adapter and counts it as a user of the registration. Only a ProgramMapper has
// statements; for any other mapper `program_` stays null.
Adapter::Adapter(std::shared_ptr<Registration> registration, Legion::Mapping::MapperRuntime* rt,
                 const Legion::Machine& realm_machine, Legion::Processor local,
                 std::unique_ptr<groma::Mapper> mapper, bool in_turn)
    : DefaultMapper(rt, realm_machine, local, "groma"),
      mapper_runtime_(rt),
      registration_(std::move(registration)),
      mapper_(std::move(mapper)),
      name_(mapper_->name()),
      views_(*registration_->machine, &registration_->regions, mapper_->site().local.node, rt),
      instances_(*registration_->machine, &registration_->regions, rt),
      calls_({rt, registration_->machine.get(), &views_, &events_, &instances_, in_turn}),
      decides_operations_(decides_operations(*mapper_)) {
  if (const auto* of_program = dynamic_cast<const ProgramMapper*>(mapper_.get())) {
    program_ = &of_program->program();
  }
  views_.set_launch_points(registration_->points_for(*mapper_));
  registration_->on_adapter_start();
}
Adapter::~Adapter() { registration_->on_adapter_end(*mapper_, views_.names()); }

// Converts Legion's processor to Groma's. Mappings cannot name utility processors, so such a
// processor becomes the processor of the adapter itself.
Processor Adapter::groma_processor(Legion::Processor processor) const {
  if (processor == local_proc) return mapper_->site().local;
  return registration_->machine->processor(processor).value_or(mapper_->site().local);
}

// Ends the process if the mapper's answer was refused. Only the first reason is reported.
void Adapter::fail_if_refused(const std::vector<Refusal>& refusals) const {
  if (refusals.empty()) return;
  registration_->fail(refusals.front().diagnostic, refusals.front().origin, mapper_.get());
}

// Ends the process because a requirement got no instance: the instance that the mapper names is
// unusable, memory is full, or no memory is suitable.
void Adapter::fail(std::size_t position, std::string_view name, const InstanceChoice& choice,
                   const InstanceFailure& why) const {
  if (choice.instance != 0) {
    registration_->fail(
        diagnostic_without_source(DiagId::kBadInstance, position, name, choice.instance, why.text),
        choice.instance_origin, mapper_.get());
  }
  fail(position, name, why, decided_first(choice));
}

// Ends the process because a requirement got no instance. The diagnostic says "out of memory" if a
// suitable memory was only too full, otherwise "no memory". If an alignment was the obstacle, the
// message also says how to change it.
void Adapter::fail(std::size_t position, std::string_view name, const InstanceFailure& why,
                   DecisionOrigin origin) const {
  const DiagId id = why.no_room ? DiagId::kOutOfMemory : DiagId::kNoMemory;
  Diagnostic diagnostic = diagnostic_without_source(id, position, name, why.text);
  if (why.unaligned && !why.no_room) {
    groma::mapper::add_alignment_help(diagnostic);
  }
  registration_->fail(diagnostic, origin, mapper_.get());
}

// Records that launches of a task may be stolen. Stealable tasks are kept by task id, so one
// stealable launch makes all launches of its task stealable. `any_task_stealable` is set too, and
// never cleared.
void Registration::note_stealable(Legion::TaskID task) {
  const std::lock_guard lock(mutex_);
  stealable_.insert(task);
  any_task_stealable = true;
}

bool Registration::is_stealable(const Legion::Task& task) {
  if (!any_task_stealable) return false;
  const std::lock_guard lock(mutex_);
  return stealable_.contains(task.task_id);
}

// Ends the process if the mapper reads the points of this launch, and these are too many to find.
void Adapter::refuse_unknown_points(const Legion::Task& task, const TaskView& view) const {
  if (!views_.have_launch_points() || !view.is_index || view.points != nullptr ||
      task.index_domain.dense() || !mapper_->reads_launch_points_of(view)) {
    return;
  }
  const std::string why = fmt::format(
      "the launch has points in more than {} rows, too many for `task.irank` and `task.ivolume`",
      kMaxPointRuns);
  registration_->fail(diagnostic_without_source(DiagId::kBadSlices, view.name, why), {},
                      mapper_.get());
}

// ---- Hooks for tasks

// Asks the groma::Mapper for a task's options and validates the answer.
void Adapter::select_task_options(MapperContext context, const Legion::Task& task,
                                  TaskOptions& output) {
  registration_->reductions.note(task.regions);
  HookBufferPool::BufferUse call(calls_, context);
  const TaskView& view = views_.make(context, task, groma_processor(task.current_proc),
                                     Regions::kNamed, call->storage);
  groma::TaskOptions& answer = call->options;
  answer.clear();
  refuse_unknown_points(task, view);
  mapper_->select_task_options(call->hands, view, answer);
  fail_if_refused(validate(answer, view, mapper_->machine()));
  output.initial_proc = realm_processor(answer.initial);
  output.inline_task = answer.inline_task;
  output.stealable = answer.stealable;
  if (answer.stealable) registration_->note_stealable(task.task_id);
  output.map_locally = answer.map_locally;
  // Legion need not list the instances that hold valid data now: a mapper's choice for instances
  // does not depend on that list.
  output.valid_instances = false;
  output.memoize = answer.memoize;
  output.replicate = answer.replicate;
  if (answer.parent_priority) output.parent_priority = *answer.parent_priority;
  output.check_collective_regions.insert(answer.collective.begin(), answer.collective.end());
}

// Chooses the sharding functor of an index launch. The points of the launch have no processors yet,
// so the view shows the processor that holds the launch now.
void Adapter::select_sharding_functor(MapperContext context, const Legion::Task& task,
                                      const SelectShardingFunctorInput& input,
                                      SelectShardingFunctorOutput& output) {
  HookBufferPool::BufferUse call(calls_, context);
  const TaskView& view = views_.make(context, task, groma_processor(task.current_proc),
                                     Regions::kNamed, call->storage);
  output.chosen_functor = sharding_of(view, *call, input);
}

// Returns Legion's id of the sharding functor that the mapper chooses. The table of shards is
// rebuilt only if the shards differ from those of the last call. Legion's functor 0 is its cyclic
// one.
Legion::ShardingID Adapter::sharding_of(const TaskView& view, HookBuffers& call,
                                        const SelectShardingFunctorInput& input) {
  call.shards.clear();
  for (Legion::Processor p : input.shard_mapping) call.shards.push_back(groma_processor(p));
  if (call.table.shards() != call.shards) call.table = ShardTable(call.shards);
  const groma::ShardingId id = mapper_->select_sharding_functor(call.hands, view, call.table);
  fail_if_refused(validate_sharding(id, view, registration_->functors.size()));
  return id == kCyclicSharding ? 0 : registration_->functors.id_of(id, call.table);
}

// Lets the mapper replicate the task. If the mapper names no processors, DefaultMapper decides. If
// the task has no target processor yet, its current processor is used.
void Adapter::replicate_task(MapperContext context, const Legion::Task& task,
                             const ReplicateTaskInput& input, ReplicateTaskOutput& output) {
  HookBufferPool::BufferUse call(calls_, context);
  const auto at = task.target_proc.exists() ? task.target_proc : task.current_proc;
  const TaskView& view =
      views_.make(context, task, groma_processor(at), Regions::kNamed, call->storage);
  groma::ReplicateTaskOutput& answer = call->replicate;
  answer.clear();
  mapper_->replicate_task(call->hands, view, answer);
  if (answer.processors.empty()) return DefaultMapper::replicate_task(context, task, input, output);
  fail_if_refused(validate(answer, view, mapper_->machine()));
  output.chosen_variant = answer.variant;
  for (const Processor& p : answer.processors)
    output.target_processors.push_back(realm_processor(p));
}

// Lets the groma::Mapper cut each box of the launch domain into slices.
void Adapter::slice_task(MapperContext context, const Legion::Task& task,
                         const SliceTaskInput& input, SliceTaskOutput& output) {
  bool blocks_of_holes = false;
  {
    HookBufferPool::BufferUse call(calls_, context);
    const TaskView& view = views_.make(context, task, groma_processor(task.target_proc),
                                       Regions::kNamed, call->storage);
    for_each_box(input.domain, [&](const Rect& part) {
      groma::SliceTaskOutput& answer = call->slices;
      answer.clear();
      mapper_->slice_task(call->hands, view, part, answer);
      fail_if_refused(validate(answer, view, part, mapper_->machine()));
      blocks_of_holes = blocks_of_holes || (answer.by_default && !input.domain.dense());
      output.slices.reserve(output.slices.size() + answer.slices.size());
      for (const groma::TaskSlice& slice : answer.slices) {
        output.slices.emplace_back(domain_of(slice.box), realm_processor(slice.processor),
                                   slice.recurse, slice.stealable);
        if (slice.stealable) registration_->note_stealable(task.task_id);
      }
    });
  }
  if (!blocks_of_holes) return;
  // The mapper's default is replaced: it cuts each box into blocks for all processors. A domain
  // with holes has many boxes, so DefaultMapper cuts the whole domain instead.
  output.slices.clear();
  DefaultMapper::slice_task(context, task, input, output);
}

void add_profiling_measurements(const RequestedMeasurements& choice,
                                Legion::Mapping::ProfilingRequest& requests) {
  using namespace Legion::Mapping::ProfilingMeasurements;
  if (choice.status) requests.add_measurement<OperationStatus>();
  if (choice.timeline) requests.add_measurement<OperationTimeline>();
}

// Asks the mapper for a variant, processors and the choices for each requirement, then finds or
// makes the instances.
void Adapter::map_task(MapperContext context, const Legion::Task& task, const MapTaskInput& input,
                       MapTaskOutput& output) {
  // The CPU cache holds no task objects at this time. These two parts of the task are needed first,
  // so both are loaded at once.
  __builtin_prefetch(&task.index_point);
  __builtin_prefetch(&task.index_domain);
  HookBufferPool::BufferUse call(calls_, context, HookSubject::kMapping);
  const bool shard = input.shard_processor.exists();
  const Legion::Processor target = shard ? input.shard_processor : task.target_proc;
  views_.make(context, task, groma_processor(target), Regions::kCounted, call->storage);
  TaskView& view = call->storage.view;
  if (shard) view.shard_variant = static_cast<VariantId>(input.shard_variant);
  groma::MapTaskOutput& answer = call->choice;
  answer.clear();
  mapper_->map_task(call->hands, view, {}, answer);
  fail_if_refused(validate(answer, view, mapper_->machine()));
  output.abort_mapping = answer.abort_mapping;
  if (answer.abort_mapping) return;
  output.chosen_variant = answer.variant;
  // If the task is a shard of a replicated task, Legion has already put the shard's processor in
  // `target_procs`.
  output.target_procs.clear();
  for (const Processor& p : answer.processors) output.target_procs.push_back(realm_processor(p));
  output.task_priority = answer.task_priority;
  output.copy_fill_priority = answer.copy_priority;
  // The report of each task's end tells the adapter which processors are idle.
  if (registration_->any_task_stealable) answer.task_profiling.status = true;
  if (answer.task_profiling.any()) ++stealing_.mapped;
  output.profiling_priority = answer.profiling_priority;
  output.postmap_task = answer.postmap;
  add_profiling_measurements(answer.task_profiling, output.task_prof_requests);
  add_profiling_measurements(answer.copy_profiling, output.copy_prof_requests);
  for (const Memory& memory : answer.future_memories) {
    output.future_locations.push_back(registration_->machine->realm(memory));
  }
  if (!view.requirements.empty()) map_regions(context, task, input, *call, output);
}

// Returns the layout constraints that the variant demands for one requirement. Most variants demand
// nothing. The cached view of a variant shows this, and then Legion is not called.
Demands Adapter::layout_demands_of(MapperContext context, const Legion::Task& task, VariantId id,
                                   std::size_t position) const {
  Demands demands;
  const auto variants = views_.variants(task.task_id);
  const auto variant = std::find_if(variants.begin(), variants.end(),
                                    [id](const VariantView& one) { return one.id == id; });
  if (variant == variants.end() || variant->demands.empty()) return demands;
  const auto& set = mapper_runtime_->find_task_layout_constraints(context, task.task_id, id);
  const auto [begin, end] = set.layouts.equal_range(static_cast<unsigned>(position));
  for (auto one = begin; one != end; ++one) {
    demands.push_back(&mapper_runtime_->find_layout_constraints(context, one->second));
  }
  return demands;
}

namespace {

// Returns the statement that decided the memory of the chosen instance, or an empty origin if no
// statement did.
DecisionOrigin decided_by(const InstanceChoice& choice,
                          const Legion::Mapping::PhysicalInstance& chosen) {
  const auto kind =
      chosen.is_virtual_instance() ? MemKind::kVirtual : kind_of(chosen.get_location().kind());
  for (const InstanceCandidate& candidate : choice.candidates()) {
    if (kind == candidate.memory) return candidate.memory_origin;
  }
  return {};
}

}  // namespace

// Maps the requirements that the variant demands in one instance. One instance cannot hold regions
// of different trees, or reductions together with other privileges, and Legion refuses a variant
// that demands such an instance. Requirements that do not go with the first one of their group are
// therefore skipped here. A group is also skipped if the mapper has named instances for it, or has
// no choice for any of its requirements.
void Adapter::map_colocated(MapperContext context, const Legion::Task& task,
                            const MapTaskInput& input, HookBuffers& call, MapTaskOutput& output,
                            std::vector<bool>& mapped) {
  const TaskView& view = call.storage.view;
  for (const auto& group : views_.colocated(task.task_id, call.choice.variant)) {
    std::vector<Instances::ColocatedRequirement> all;
    std::vector<std::size_t> positions;
    bool names_candidates = false, names_instances = false;
    for (const std::size_t i : group) {
      if (i >= task.regions.size() || view.requirements[i].empty() || is_premapped(input, i)) {
        continue;
      }
      if (!all.empty() &&
          (task.regions[i].redop != all.front().requirement.redop ||
           task.regions[i].region.get_tree_id() != all.front().requirement.region.get_tree_id())) {
        continue;
      }
      const InstanceChoice& choice = call.choice.requirements[i];
      names_candidates |= choice.candidate_count > 0;
      names_instances |= choice.instance != 0;
      positions.push_back(i);
      all.push_back({task.regions[i], choice,
                     layout_demands_of(context, task, call.choice.variant, i),
                     output.chosen_instances[i]});
    }
    if (all.size() < 2 || !names_candidates || names_instances) continue;
    InstanceFailure why;
    if (!instances_.add_colocated(context, all, output.target_procs, &why)) {
      fail(positions.front(), view.name, all.front().choice, why);
    }
    mapped.resize(task.regions.size());
    for (const std::size_t i : positions) mapped[i] = true;
  }
}

// Finds or makes the instances of all region requirements, and chooses the memories of output
// regions. Ends the process if a requirement gets no instance.
void Adapter::map_regions(MapperContext context, const Legion::Task& task,
                          const MapTaskInput& input, HookBuffers& call, MapTaskOutput& output) {
  const TaskView& view = call.storage.view;
  const VariantView* variant = nullptr;
  for (const VariantView& one : view.variants) {
    if (one.id == call.choice.variant) variant = &one;
  }
  const std::size_t inputs = task.regions.size();
  std::vector<bool> mapped;
  map_colocated(context, task, input, call, output, mapped);
  for (std::size_t i = 0; i < view.requirements.size(); ++i) {
    const RequirementView& requirement = view.requirements[i];
    const InstanceChoice& choice = call.choice.requirements[i];
    if (requirement.empty() || is_premapped(input, i)) continue;
    InstanceFailure why;
    const TaskRequirement of{task, call.choice.variant, i};
    bool made = i < mapped.size() && mapped[i];
    // The positions of output regions come after those of the other requirements.
    if (i >= inputs) {
      made = instances_.choose_output_memory(
          task.output_regions[i - inputs], choice, output.target_procs.front(),
          output.output_targets[i - inputs], output.output_constraints[i - inputs], &why);
    } else if (!made) {
      made = instances_.add_instance_for(context, task.regions[i], &of, choice,
                                         layout_demands_of(context, task, call.choice.variant, i),
                                         why_not_virtual(requirement, variant), output.target_procs,
                                         output.chosen_instances[i], &why);
    }
    if (!made) fail(i, view.name, choice, why);
    // Legion must keep track of instances to which tasks reduce, so a choice for an untracked
    // instance is ignored for these.
    if (choice.untracked && i < inputs &&
        registration_->reductions.why_tracked(task.regions[i]) == nullptr) {
      output.untracked_valid_regions.insert(static_cast<unsigned>(i));
    }
    if (registration_->record_memory_origin && i < inputs) {
      registration_->record_memory_origin(task.get_unique_id(), i,
                                          decided_by(choice, output.chosen_instances[i].front()));
    }
  }
}

// Passes a profiling report of a task, or of its copies and fills, to the mapper. If a task ended,
// the adapter may look for work to steal.
void Adapter::report_profiling(MapperContext context, const Legion::Task& task,
                               const TaskProfilingInfo& input) {
  HookBufferPool::BufferUse call(calls_, context);
  const TaskView& view =
      views_.make(context, task, groma_processor(task.target_proc), Regions::kNone, call->storage);
  pass_profiling_report(*call, view,
                        input.task_response   ? OperationKind::kTask
                        : input.fill_response ? OperationKind::kFill
                                              : OperationKind::kCopy,
                        input.profiling_responses);
  if (!input.task_response || stealing_.mapped == 0) return;
  --stealing_.mapped;
  request_work_if_idle(context, *call);
}

// Converts Legion's measurements to a ProfilingReport and passes it to the mapper. All times are in
// nanoseconds. A measurement that Legion did not make leaves its fields at their defaults.
void Adapter::pass_profiling_report(HookBuffers& call, const TaskView& view, OperationKind of,
                                    const Legion::Mapping::ProfilingResponse& responses) {
  ProfilingReport report;
  report.operation = of;
  report.processor = view.current;
  using namespace Legion::Mapping::ProfilingMeasurements;
  OperationStatus status;
  if (responses.get_measurement(status)) {
    report.completed = status.result == OperationStatus::COMPLETED_SUCCESSFULLY;
  }
  OperationTimeline timeline;
  if (responses.get_measurement(timeline)) {
    report.created_ns = timeline.create_time;
    report.ready_ns = timeline.ready_time;
    report.started_ns = timeline.start_time;
    report.ended_ns = timeline.complete_time;
  }
  mapper_->report_profiling(call.hands, view, report);
}

}  // namespace groma::legion
