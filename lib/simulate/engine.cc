// Implements the event loop of a simulated run: what happens when ops become ready, and when copies
// and tasks start and end.
#include "simulate/engine.h"

#include "simulate/refusals.h"

namespace groma::sim {

namespace {

// Returns the profiling report of a task that ends at `now`: its processor, and the times at which
// it was created, ready, started and ended.
ProfilingReport report_of(const TaskRun& run, RunTime now) {
  ProfilingReport report;
  report.created_ns = (run.of != nullptr ? run.of->created : 0) / 1000;
  report.ready_ns = run.times.ready / 1000;
  report.started_ns = run.times.start / 1000;
  report.ended_ns = now / 1000;
  report.processor = *run.processor;
  return report;
}

}  // namespace

// Constructs the parts of the simulated run, and connects them by callbacks.
Engine::Engine(const app::Data& data, const DataSpaces& spaces,
               std::shared_ptr<const Machine> machine, const MapperFactory& make,
               const SimulateOptions& options)
    : options_(options),
      costs_(options.costs.value_or(data.runtime.value_or(RuntimeCosts{}))),
      parts_(data, spaces, std::move(machine), make,
             {options.max_bytes, [this] { return bytes(); },
              [this] { return options_.stop && options_.stop(); }}),
      mapping_(parts_),
      agenda_(data.name, parts_.outcome),
      record_(parts_.input, parts_.store, parts_.outcome, options.record),
      noise_(options.noise, options.seed),
      copies_(parts_.input, parts_.store, parts_.outcome, agenda_, record_, noise_, options.model),
      stations_(parts_.input, parts_.store, parts_.outcome, agenda_, record_, noise_,
                options.model),
      uses_(parts_.ops),
      replay_(parts_, options.max_bytes / kShareOfPlans),
      utility_(static_cast<std::size_t>(parts_.input.machine->node_count())),
      steady_({parts_, agenda_, uses_, stations_, copies_, tasks_, replay_, counts_, utility_,
               to_picoseconds(costs_.future_s), options.max_tasks, options.record,
               options.noise != 0}),
      selection_(
          {parts_.input, parts_.outcome, parts_.views, parts_.mappers, parts_.calls, agenda_,
           mapper_events_, stations_, tasks_, [this](TaskRun& run) { return map_task(run); }},
          2 * to_picoseconds(costs_.remote_s)),
      bodies_(parts_.input, parts_.ops, parts_.launcher, replay_, steady_, parts_.outcome, agenda_,
              record_, counts_, options.max_iterations, to_picoseconds(costs_.future_s)) {
  parts_.calls.enable_events({mapper_events_, agenda_, tasks_});
  stations_.on_start = [this](TaskRun& run) {
    if (launches_tasks(parts_.input.data, run)) bodies_.begin_body(run);
  };
  bodies_.on_launch = [this](LaunchingTask& context, const app::Launch& launch) {
    this->launch(context, launch);
  };
  bodies_.on_end = [this](TaskRun& run) { complete(run); };
  if (record_.wanted()) {
    parts_.store.on_allocation = [this](const Instance& instance, bool made) {
      record_.add_allocation(agenda_.now(), instance, made);
    };
  }
}

// Returns about how many bytes of memory the run uses.
std::int64_t Engine::bytes() const {
  return parts_.bytes() + planned_bytes_ + replay_.bytes() + tasks_.bytes() + bodies_.bytes() +
         copies_.bytes() + agenda_.bytes() + mapper_events_.bytes() + record_.bytes() +
         uses_.bytes() + steady_.bytes();
}

// Maps the top-level task. Then handles events in the order of their time until none is left or the
// run is over.
RunResult Engine::run() {
  TaskRun& top = tasks_.add();
  if (parts_.launcher.place_top_level_task(top) && map_task(top)) handle_ready_ops();
  while (!parts_.outcome.over()) {
    if (LaunchingTask* const held = steady_.task_to_resume(agenda_.empty()); held != nullptr) {
      bodies_.catch_up(*held);
    } else if (!agenda_.empty()) {
      handle(agenda_.pop_next_event());
    } else {
      break;
    }
    handle_ready_ops();
    parts_.instances.report_collected_instances();
    if (!parts_.outcome.spend(kStepWork)) break;
  }
  return finish();
}

// Computes the result: the run time in seconds, the throughput, and the record if it is wanted.
// Tasks that are still live are an error, because nothing can wake them.
RunResult Engine::finish() {
  const app::Data& data = parts_.input.data;
  if (!parts_.outcome.over() && tasks_.live() > 0) {
    parts_.outcome.fail(data.name,
                        "nothing goes on: tasks wait for each other, or a mapper holds them back");
  }
  RunResult& result = parts_.outcome.result();
  const RunTime now = agenda_.now();
  const RunTime counted =
      data.metric_phase < 0 ? now : counts_.phase_time[static_cast<std::size_t>(data.metric_phase)];
  result.total_seconds = static_cast<double>(now) * kPicosecond;
  result.seconds = static_cast<double>(counted) * kPicosecond;
  app::FormulaFault fault = app::FormulaFault::kNone;
  const auto work = static_cast<double>(data.work.value({}, fault));
  result.unit = data.unit;
  if (result.seconds > 0) result.throughput = work / result.seconds;
  result.record = record_.finish(now, parts_.store, copies_.links());
  return std::move(result);
}

// ---- Events

// Handles one event by calling the part of the simulator that is responsible for its kind.
void Engine::handle(const Event& event) {
  steady_.note_event(event);
  switch (event.kind()) {
    case Event::Kind::kStep:
      event.context->now = agenda_.now();
      return bodies_.run_statements(*event.context);
    case Event::Kind::kReady:
      return uses_.note_ready(static_cast<Op>(event.id));
    case Event::Kind::kTaskEnd:
      return end_task(*event.run);
    case Event::Kind::kCopyEnd:
      return end_copy(static_cast<std::uint32_t>(event.id));
    case Event::Kind::kSelect:
      return selection_.select(static_cast<std::int32_t>(event.id));
    case Event::Kind::kSteal:
      return selection_.steal(static_cast<std::int32_t>(event.id));
    case Event::Kind::kMessage: {
      const Message message = mapper_events_.deliver(event.id);
      parts_.mappers.mapper_for_scheduling(parts_.input.processors.number_of(message.target))
          .handle_message(parts_.calls, message.sender, message.kind, message.bytes);
      return;
    }
  }
}

// Handles all ops (tasks, copies and futures) that became ready.
void Engine::handle_ready_ops() {
  uses_.handle_all_ready([this](ReadyOp ready) { return handle(ready); });
}

// Handles an op (a task, a copy or a future) that waits for nothing any more. If the runtime has
// not mapped a copy or task yet, it becomes ready when it is mapped. A copy then starts, and a task
// queues at its processor. Returns false if the run is over.
bool Engine::handle(ReadyOp ready) {
  if (parts_.outcome.over()) return false;
  const OpSubject use = uses_[ready.op];
  steady_.note_ready(ready.op);
  // Notes the recorded event that made a copy or task ready. If the copy or task is already mapped,
  // calls go(), which starts the copy or queues the task. Otherwise adds an event at the time when
  // it is mapped.
  const auto once_mapped = [&](RunTime mapped, std::int64_t& cause, const auto& go) {
    if (ready.cause >= 0) cause = ready.cause;
    if (mapped <= agenda_.now()) return go();
    agenda_.add(mapped, Event::Kind::kReady, ready.op);
  };
  switch (use.kind) {
    case OpSubject::Kind::kNone:
      break;
    case OpSubject::Kind::kJoin:
      complete_future(ready.op, ready.cause);
      break;
    case OpSubject::Kind::kCopy: {
      CopyRun& copy = copies_[use.copy];
      once_mapped(copy.mapped, copy.cause, [&] { copies_.start(use.copy); });
      break;
    }
    case OpSubject::Kind::kTask:
      once_mapped(use.run->times.mapped, use.run->records.cause,
                  [&] { stations_.queue(*use.run); });
      break;
  }
  return true;
}

// Completes a future. If the task that launched the producers of the future waits for it, that task
// goes on after the runtime cost `future_s`.
void Engine::complete_future(Op op, std::int64_t cause) {
  LaunchingTask* const giver = uses_[op].run->context.get();
  uses_.complete(op, cause);
  if (giver == nullptr || giver->wait.what != LaunchingTask::BodyWait::WaitReason::kFuture ||
      giver->wait.future != op) {
    return;
  }
  giver->since = {cause, false};
  bodies_.resume_body_at(*giver, agenda_.now() + to_picoseconds(costs_.future_s));
}

// ---- Ends of copies and tasks

// Ends a copy. Tasks and copies that waited only for this copy become ready.
void Engine::end_copy(std::uint32_t number) {
  const CopyRun copy = copies_.end(number);
  uses_.complete(copy.fetch.op, copy.record);
}

// Handles the end of a task's own run: frees its processor and its share of memory bandwidth. The
// task is complete when everything that it launched is over, too.
void Engine::end_task(TaskRun& run) {
  run.ended = true;
  ProcessorState& station = stations_.free_processor_of(run);
  if (run.context) {
    run.context->last_over = run.records.own;
    bodies_.end_task_if_over(*run.context);
  } else {
    complete(run);
  }
  stations_.start_next(station);
}

// Handles the end of a task and of everything that it launched. The instances are released,
// profiling is reported, waiting operations become ready, and the parent may go on.
void Engine::complete(TaskRun& run) {
  ++parts_.outcome.result().tasks;
  --stations_[run.number].load;
  if (run.choices.profiling.any()) {
    const TaskView view = parts_.views.view_of(run, report_views_);
    parts_.mappers.mapper_of(run.number)
        .report_profiling(parts_.calls, view, report_of(run, agenda_.now()));
  }
  if (selection_.has_stealable()) agenda_.add(agenda_.now(), Event::Kind::kSteal, run.number);
  for (InstanceNumber instance : run.instances) {
    if (instance != kVirtual) parts_.store.release(instance);
  }
  const std::int64_t last = run.context ? run.context->last_over : run.records.own;
  uses_.complete(run.op, last);
  uses_.set(run.op, {OpSubject::Kind::kTask, 0, nullptr});
  LaunchingTask* const parent = run.parent;
  if (run.context) {
    for (const auto& [launch, plan] : run.context->plans) planned_bytes_ -= plan->bytes;
  }
  bodies_.free_context(run);
  if (parent != nullptr && run.of->unfinished == 1)
    steady_.note_left(parent->window.complete(run.of->in_window, agenda_.now()));
  tasks_.remove(run);
  if (parent == nullptr) return;
  --parent->outstanding;
  parent->last_over = last;
  using For = LaunchingTask::BodyWait::WaitReason;
  const For waits_for = parent->wait.what;
  if ((waits_for == For::kAll && parent->outstanding == 0) ||
      (waits_for == For::kWindow && parent->window.go_on())) {
    parent->since = {last, false};
    bodies_.resume_body_at(*parent, agenda_.now() + to_picoseconds(costs_.future_s));
  }
  bodies_.end_task_if_over(*parent);
}

}  // namespace groma::sim
