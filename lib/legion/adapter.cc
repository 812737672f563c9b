// Each hook: Legion's task to a view, our mapper's answer, its validation, the answer to Legion's
// form. Where a program and its machine do not fit, the process ends with a message: Legion would
// do so without one.
#include "legion/adapter.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <deque>

#include "base/one_diagnostic.h"
#include "groma/program_mapper.h"
#include "mapper/unhonoured.h"

namespace groma::legion {

using Regions = TaskViews::Regions;

// ---- Errors

void Registration::fail(const Diagnostic& diagnostic, Origin origin, const Mapper* mapper) const {
  Diagnostic shown = diagnostic;
  const std::string who = mapper == nullptr ? "" : mapper->describe(origin);
  if (!who.empty()) shown.note("decided by " + who);
  log()->log(LogLevel::kError, render(mapper == nullptr ? Source() : mapper->source(), shown));
  std::fflush(nullptr);
  std::_Exit(1);
}

// ---- Names that no task has. Legion does not tell which tasks are registered, so it is known at
// the end alone, and not where others may have launched them.

void Registration::enter() {
  const std::lock_guard lock(mutex_);
  ++adapters_;
}

void Registration::leave(const Mapper& mapper, std::set<std::string> names) {
  const std::lock_guard lock(mutex_);
  task_names_.merge(names);
  const auto* of_program = dynamic_cast<const ProgramMapper*>(&mapper);
  if (--adapters_ > 0 || of_program == nullptr || mapper.machine().node_count() > 1) return;
  const std::set<std::string_view> known(task_names_.begin(), task_names_.end());
  if (!known.empty()) groma::mapper::log_unknown_tasks(of_program->program(), known, *log());
}

// ---- What a hook needs

// Legion's mapper events under numbers.
struct Adapter::Events {
  std::map<MapperEvent, Legion::Mapping::MapperEvent> open;
  MapperEvent last = 0;
};

// While it lives, no hook begins inside this one, whatever is called.
class Alone {
 public:
  Alone(Legion::Mapping::MapperRuntime* runtime, MapperContext context)
      : runtime_(runtime), context_(context), was_reentrant_(runtime->is_reentrant(context)) {
    if (was_reentrant_) runtime_->disable_reentrant(context_);
  }
  ~Alone() {
    if (was_reentrant_) runtime_->enable_reentrant(context_);
  }
  Alone(const Alone&) = delete;
  Alone& operator=(const Alone&) = delete;

 private:
  Legion::Mapping::MapperRuntime* runtime_;
  MapperContext context_;
  bool was_reentrant_;
};

// What a mapper of ours may do during one hook. What else MapperRuntime offers is for mappers that
// make their own instances, which the adapter does not let them do yet.
class Adapter::Hands final : public groma::MapperRuntime {
 public:
  Hands(Legion::Mapping::MapperRuntime* runtime, Events* events)
      : runtime_(runtime), events_(events) {}
  void enter(MapperContext context) { context_ = context; }

  Capabilities capabilities() const override {
    Capabilities can;
    can.stealing = false;  // its hooks are Legion's DefaultMapper's
    can.instances = false;
    return can;
  }
  MapperEvent create_event() override {
    const Alone alone(runtime_, context_);
    const Legion::Mapping::MapperEvent made = runtime_->create_mapper_event(context_);
    events_->open[++events_->last] = made;
    return events_->last;
  }
  void trigger_event(MapperEvent event) override {
    const auto found = events_->open.find(event);
    if (found == events_->open.end()) return;
    const Legion::Mapping::MapperEvent triggered = found->second;
    events_->open.erase(found);
    const Alone alone(runtime_, context_);
    runtime_->trigger_mapper_event(context_, triggered);
  }

 private:
  Legion::Mapping::MapperRuntime* runtime_;
  Events* events_;
  MapperContext context_ = nullptr;
};

struct Adapter::Call {
  Hands hands;
  ViewStorage storage;
  std::vector<const Legion::Task*> ready_tasks;
  std::vector<TaskView> ready;
  std::deque<TaskView> parents;
  std::vector<Processor> shards;
  ShardTable table;  // of them
  groma::TaskOptions options;
  SliceAnswer slices;
  TaskWish wish;
  ReplicateAnswer replicate;
  ScheduleAnswer schedule;

  Call(Legion::Mapping::MapperRuntime* runtime, Events* events) : hands(runtime, events) {}
};

// The buffers of one hook. Other hooks may begin where it calls the runtime, never while our mapper
// has the word.
class Adapter::Use {
 public:
  Use(Adapter* adapter, MapperContext context) : adapter_(adapter) {
    if (adapter_->free_calls_.empty()) {
      call_ = std::make_unique<Call>(adapter_->mapper_runtime_, adapter_->events_.get());
    } else {
      call_ = std::move(adapter_->free_calls_.back());
      adapter_->free_calls_.pop_back();
    }
    call_->hands.enter(context);
  }
  ~Use() { adapter_->free_calls_.push_back(std::move(call_)); }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;
  Call* operator->() const { return call_.get(); }
  Call& operator*() const { return *call_; }

 private:
  Adapter* adapter_;
  std::unique_ptr<Call> call_;
};

Adapter::Adapter(std::shared_ptr<Registration> registration, Legion::Mapping::MapperRuntime* rt,
                 const Legion::Machine& realm_machine, Legion::Processor local,
                 std::unique_ptr<groma::Mapper> mapper)
    : DefaultMapper(rt, realm_machine, local, "groma"),
      mapper_runtime_(rt),
      registration_(std::move(registration)),
      mapper_(std::move(mapper)),
      name_(mapper_->name()),
      views_(*registration_->machine, &registration_->regions, mapper_->site().local.node, rt),
      instances_(*registration_->machine, rt),
      events_(std::make_unique<Events>()) {
  registration_->enter();
}
Adapter::~Adapter() { registration_->leave(*mapper_, views_.names()); }

// Where a task stands that is on a processor that no mapping names (a utility processor): here.
Processor Adapter::place_of(Legion::Processor processor) const {
  if (processor == local_proc) return mapper_->site().local;
  return registration_->machine->processor(processor).value_or(mapper_->site().local);
}

void Adapter::check(const std::vector<Refusal>& refusals) const {
  if (refusals.empty()) return;
  registration_->fail(refusals.front().diagnostic, refusals.front().origin, mapper_.get());
}

// ---- Hooks

void Adapter::select_task_options(MapperContext context, const Legion::Task& task,
                                  TaskOptions& output) {
  Use call(this, context);
  const TaskView& view =
      views_.make(context, task, place_of(task.current_proc), Regions::kNamed, call->storage);
  groma::TaskOptions& answer = call->options;
  answer.clear();
  mapper_->select_task_options(call->hands, view, answer);
  check(validate(answer, view, mapper_->machine()));
  output.initial_proc = realm(answer.initial);
  output.inline_task = answer.inline_task;
  output.stealable = answer.stealable;
  output.map_locally = answer.map_locally;
  output.valid_instances = false;  // a wish does not depend on them
  output.memoize = answer.memoize;
  output.replicate = answer.replicate;
  if (answer.parent_priority) output.parent_priority = *answer.parent_priority;
  output.check_collective_regions.insert(answer.collective.begin(), answer.collective.end());
}

void Adapter::select_sharding_functor(MapperContext context, const Legion::Task& task,
                                      const SelectShardingFunctorInput& input,
                                      SelectShardingFunctorOutput& output) {
  Use call(this, context);
  const TaskView& view =
      views_.make(context, task, place_of(task.current_proc), Regions::kNamed, call->storage);
  call->shards.clear();
  for (Legion::Processor p : input.shard_mapping) call->shards.push_back(place_of(p));
  if (call->table.shards() != call->shards) call->table = ShardTable(call->shards);
  const groma::ShardingId id = mapper_->select_sharding_functor(call->hands, view, call->table);
  check(validate_sharding(id, view, registration_->functors.size()));
  output.chosen_functor =
      id == kCyclicSharding ? 0 : registration_->functors.id_of(id, call->table);
}

void Adapter::replicate_task(MapperContext context, const Legion::Task& task,
                             const ReplicateTaskInput& input, ReplicateTaskOutput& output) {
  Use call(this, context);
  const auto at = task.target_proc.exists() ? task.target_proc : task.current_proc;
  const TaskView& view = views_.make(context, task, place_of(at), Regions::kNamed, call->storage);
  ReplicateAnswer& answer = call->replicate;
  answer.clear();
  mapper_->replicate_task(call->hands, view, answer);
  if (answer.processors.empty()) return DefaultMapper::replicate_task(context, task, input, output);
  check(validate(answer, view, mapper_->machine()));
  output.chosen_variant = answer.variant;
  for (const Processor& p : answer.processors) output.target_processors.push_back(realm(p));
}

void Adapter::slice_task(MapperContext context, const Legion::Task& task,
                         const SliceTaskInput& input, SliceTaskOutput& output) {
  bool blocks_of_holes = false;
  {
    Use call(this, context);
    const TaskView& view =
        views_.make(context, task, place_of(task.target_proc), Regions::kNamed, call->storage);
    for_each_box(input.domain, [&](const Rect& part) {
      SliceAnswer& answer = call->slices;
      answer.clear();
      mapper_->slice_task(call->hands, view, part, answer);
      check(validate(answer, view, part, mapper_->machine()));
      blocks_of_holes = blocks_of_holes || (answer.by_default && !input.domain.dense());
      output.slices.reserve(output.slices.size() + answer.slices.size());
      for (const groma::TaskSlice& slice : answer.slices) {
        output.slices.emplace_back(domain_of(slice.box), realm(slice.processor), slice.recurse,
                                   slice.stealable);
      }
    });
  }
  if (!blocks_of_holes) return;
  // The default cuts each part into blocks for all processors; a launch with holes has many parts.
  output.slices.clear();
  DefaultMapper::slice_task(context, task, input, output);
}

// In parts: a view is large, and all points of a launch may be ready.
void Adapter::select_tasks_to_map(MapperContext context, const SelectMappingInput& input,
                                  SelectMappingOutput& output) {
  if (!mapper_->selects()) {
    output.map_tasks.insert(input.ready_tasks.begin(), input.ready_tasks.end());
    return;
  }
  constexpr std::size_t kPart = 256;
  Use call(this, context);
  // An event that one part makes must not be gone after the next.
  const Alone alone(mapper_runtime_, context);
  MapperEvent deferral = 0;
  const Legion::Task* parent = nullptr;
  const auto ask = [&] {
    ScheduleAnswer& answer = call->schedule;
    answer.clear();
    mapper_->select_tasks_to_map(call->hands, call->ready, answer);
    check(validate(answer, call->ready, mapper_->machine()));
    const auto& tasks = call->ready_tasks;
    for (std::uint32_t index : answer.map) output.map_tasks.insert(tasks[index]);
    for (const ScheduleAnswer::Relocation& move : answer.relocate) {
      output.relocate_tasks[tasks[move.task]] = realm(move.processor);
    }
    if (answer.deferral != 0) deferral = answer.deferral;
    call->ready.clear();
    call->ready_tasks.clear();
    call->parents.clear();
    parent = nullptr;
  };
  for (const Legion::Task* task : input.ready_tasks) {
    const Processor current = place_of(task->target_proc);
    views_.fill(context, *task, current, call->ready.emplace_back());
    call->ready_tasks.push_back(task);
    const Legion::Task* above = task->get_parent_task();
    if (above != nullptr && above != parent) {
      views_.fill_parent(context, *above, current, call->parents.emplace_back());
      parent = above;
    }
    if (above != nullptr) call->ready.back().parent = &call->parents.back();
    if (call->ready.size() == kPart) ask();
  }
  if (!call->ready.empty()) ask();
  const bool idle = output.map_tasks.empty() && output.relocate_tasks.empty();
  const auto event = events_->open.find(deferral);
  if (idle && event != events_->open.end()) output.deferral_event = event->second;
}

namespace {

void request(const ProfilingWish& wish, Legion::Mapping::ProfilingRequest& requests) {
  using namespace Legion::Mapping::ProfilingMeasurements;
  if (wish.status) requests.add_measurement<OperationStatus>();
  if (wish.timeline) requests.add_measurement<OperationTimeline>();
}

}  // namespace

void Adapter::map_task(MapperContext context, const Legion::Task& task, const MapTaskInput& input,
                       MapTaskOutput& output) {
  __builtin_prefetch(&task.index_point);  // tasks are cold: their parts come at once, not in turn
  __builtin_prefetch(&task.index_domain);
  Use call(this, context);
  const bool shard = input.shard_processor.exists();
  const Legion::Processor target = shard ? input.shard_processor : task.target_proc;
  views_.make(context, task, place_of(target), Regions::kCounted, call->storage);
  TaskView& view = call->storage.view;
  if (shard) view.shard_variant = static_cast<VariantId>(input.shard_variant);
  TaskWish& answer = call->wish;
  answer.clear();
  mapper_->map_task(call->hands, view, {}, answer);
  check(validate(answer, view, mapper_->machine()));
  output.abort_mapping = answer.abort_mapping;
  if (answer.abort_mapping) return;
  output.chosen_variant = answer.variant;
  output.target_procs.clear();  // it comes with the shard's processor in it
  for (const Processor& p : answer.processors) output.target_procs.push_back(realm(p));
  output.task_priority = answer.task_priority;
  output.copy_fill_priority = answer.copy_priority;
  output.profiling_priority = answer.profiling_priority;
  output.postmap_task = answer.postmap;
  request(answer.task_profiling, output.task_prof_requests);
  request(answer.copy_profiling, output.copy_prof_requests);
  for (const Memory& memory : answer.future_memories) {
    output.future_locations.push_back(registration_->machine->realm(memory));
  }
  if (!view.requirements.empty()) map_regions(context, task, *call, output);
}

void Adapter::map_regions(MapperContext context, const Legion::Task& task, Call& call,
                          MapTaskOutput& output) {
  const TaskView& view = call.storage.view;
  const VariantView* variant = nullptr;
  for (const VariantView& one : view.variants) {
    if (one.id == call.wish.variant) variant = &one;
  }
  const std::size_t inputs = task.regions.size();
  for (std::size_t i = 0; i < view.requirements.size(); ++i) {
    const RequirementView& requirement = view.requirements[i];
    const RequirementWish& wish = call.wish.requirements[i];
    if (requirement.empty()) continue;
    std::string reasons;
    const bool made =
        i < inputs
            ? instances_.add(context, task.regions[i], wish, why_not_virtual(requirement, variant),
                             output.target_procs, output.chosen_instances[i], &reasons)
            : instances_.add_output(task.output_regions[i - inputs], wish,
                                    output.target_procs.front(), output.output_targets[i - inputs],
                                    output.output_constraints[i - inputs], &reasons);
    if (!made) {
      registration_->fail(
          one_diagnostic(DiagId::kNoMemory, i, view.name, reasons),
          wish.candidate_count > 0 ? wish.candidates().front().memory_origin : wish.instance_origin,
          mapper_.get());
    }
    if (wish.untracked && i < inputs) {
      output.untracked_valid_regions.insert(static_cast<unsigned>(i));
    }
  }
}

void Adapter::report_profiling(MapperContext context, const Legion::Task& task,
                               const TaskProfilingInfo& input) {
  Use call(this, context);
  const TaskView& view =
      views_.make(context, task, place_of(task.target_proc), Regions::kNone, call->storage);
  ProfilingReport report;
  report.processor = view.current;
  if (!input.task_response) {
    report.operation = input.fill_response ? OperationKind::kFill : OperationKind::kCopy;
  }
  using namespace Legion::Mapping::ProfilingMeasurements;
  OperationStatus status;
  if (input.profiling_responses.get_measurement(status)) {
    report.completed = status.result == OperationStatus::COMPLETED_SUCCESSFULLY;
  }
  OperationTimeline timeline;
  if (input.profiling_responses.get_measurement(timeline)) {
    report.created_ns = timeline.create_time;
    report.ready_ns = timeline.ready_time;
    report.started_ns = timeline.start_time;
    report.ended_ns = timeline.complete_time;
  }
  mapper_->report_profiling(call->hands, view, report);
}

}  // namespace groma::legion
