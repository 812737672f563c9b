// Implements the event loop of a simulated run: what happens when ops become ready, and when copies
// and tasks start and end.
#include "simulate/engine.h"

#include "simulate/refusals.h"

namespace groma::sim {

// Prepares the state of processors and nodes, and joins the parts of the run.
Engine::Engine(const app::Data& data, const Spaces& spaces, std::shared_ptr<const Machine> machine,
               const MapperFactory& make, const SimulateOptions& options)
    : Mapping(data, spaces, std::move(machine), make, options.max_bytes),
      options_(options),
      costs_(options.costs.value_or(data.runtime.value_or(RuntimeCosts{}))),
      links_(*input_.machine, input_.memories),
      agenda_(data.name, outcome_),
      record_(input_, outcome_, options.record),
      durations_(input_, store_),
      stations_(input_.processors.size()),
      selection_({input_, outcome_, views_, mappers_, *this, agenda_, mapper_events_, stations_,
                  tasks_, [this](TaskRun& run) { return map(run); }},
                 2 * to_time(costs_.remote_s)),
      bodies_(input_, ops_, launcher_, outcome_, agenda_, record_, options.max_iterations),
      draws_(options.seed),
      uses_(1),
      utility_(static_cast<std::size_t>(input_.machine->node_count())) {
  bodies_.on_launch = [this](Context& context, const app::Launch& launch) {
    this->launch(context, launch);
  };
  bodies_.on_end = [this](TaskRun& run) { complete_run(run); };
  if (record_.wanted()) {
    store_.on_allocation = [this](const Instance& instance, bool made) {
      record_.add_allocation(agenda_.now(), instance, made);
    };
  }
}

Engine::~Engine() = default;

// Returns about how many bytes of memory the run uses.
std::int64_t Engine::bytes() const {
  return Mapping::bytes() + tasks_.bytes() + bodies_.bytes() + copies_.bytes() + agenda_.bytes() +
         mapper_events_.bytes() + record_.bytes() + heap_bytes(uses_) + heap_bytes(ready_);
}

// Handles events in the order of their time until none is left or the run is over.
RunResult Engine::run() {
  if (launch_top()) drain();
  while (!agenda_.empty() && !outcome_.over()) {
    handle(agenda_.next());
    drain();
    instances_.tell_collected();
    if (!outcome_.spend(kStepWork)) break;
  }
  return finish();
}

// Computes the result: the run time in seconds, the throughput, and the record if it is wanted.
// Tasks that are still live are an error, because nothing can wake them.
RunResult Engine::finish() {
  const app::Data& data = input_.data;
  if (!outcome_.over() && tasks_.live() > 0) {
    outcome_.fail(data.name,
                  "nothing goes on: tasks wait for each other, or a mapper holds them back");
  }
  RunResult& result = outcome_.result();
  const RunTime now = agenda_.now();
  const RunTime counted = data.metric_phase < 0 ? now : bodies_.phase_time(data.metric_phase);
  result.total_seconds = static_cast<double>(now) * kPicosecond;
  result.seconds = static_cast<double>(counted) * kPicosecond;
  app::FormulaFault fault = app::FormulaFault::kNone;
  const auto work = static_cast<double>(data.work.value({}, fault));
  result.unit = data.unit;
  if (result.seconds > 0) result.throughput = work / result.seconds;
  result.record = record_.finish(now, store_, links_);
  return std::move(result);
}

// ---- Events

void Engine::handle(const Event& event) {
  switch (event.kind()) {
    case Event::Kind::kStep:
      return bodies_.step(*event.context);
    case Event::Kind::kReady:
      ready_.emplace_back(static_cast<Op>(event.id), -1);
      return;
    case Event::Kind::kTaskEnd:
      return end_task(*event.run);
    case Event::Kind::kCopyEnd:
      return end_copy(static_cast<std::uint32_t>(event.id));
    case Event::Kind::kSelect:
      return selection_.select(static_cast<std::int32_t>(event.id));
    case Event::Kind::kSteal:
      return selection_.steal(static_cast<std::int32_t>(event.id));
    case Event::Kind::kMessage:
      return deliver(mapper_events_.deliver(event.id));
  }
}

// Handles every operation that became ready, and those that become ready by that. A list replaces
// recursion.
void Engine::drain() {
  for (std::size_t i = 0; i < ready_.size() && !outcome_.over(); ++i) {
    op_ready(ready_[i].first, ready_[i].second);
  }
  ready_.clear();
}

// Marks the operation as over. Operations that waited only for it become ready; `record` is their
// cause.
void Engine::complete(Op op, std::int64_t record) {
  ops_.complete(op, [&](Op ready) { ready_.emplace_back(ready, record); });
}

// Completes a future. If the task that launched its producers waits for it, that task goes on after
// `future_s`.
void Engine::future_there(Op op, std::int64_t cause) {
  Context* const giver = uses_[op].run->context.get();
  complete(op, cause);
  if (giver == nullptr || giver->blocked != Context::Blocked::kFuture || giver->awaited != op) {
    return;
  }
  giver->since = {cause, false};
  bodies_.wake(*giver, agenda_.now() + to_time(costs_.future_s));
}

// Handles an operation that waits for nothing any more. A copy or task that the runtime has not
// mapped yet becomes ready when it is mapped. A copy then starts, and a task queues at its
// processor.
void Engine::op_ready(Op op, std::int64_t cause) {
  const OpUse& use = uses_[op];
  const RunTime now = agenda_.now();
  if (use.kind == OpUse::Kind::kJoin) return future_there(op, cause);
  if (use.kind == OpUse::Kind::kCopy) {
    CopyRun& copy = copies_[use.copy];
    if (cause >= 0) copy.cause = cause;
    if (copy.mapped > now) return agenda_.add(copy.mapped, Event::Kind::kReady, op);
    return start_copy(use.copy);
  }
  if (use.kind != OpUse::Kind::kTask) return;
  TaskRun& run = *use.run;
  if (cause >= 0) run.cause = cause;
  if (run.mapped > now) return agenda_.add(run.mapped, Event::Kind::kReady, op);
  run.ready = now;
  Station& station = this->station(run);
  station.ready.push({run.priority, agenda_.next_number(), &run});
  if (station.running == nullptr) start_next(station);
}

// Returns the duration changed by a random factor between 1 - noise and 1 + noise.
RunTime Engine::with_noise(double seconds) {
  if (options_.noise <= 0) return to_time(seconds);
  return to_time(seconds * (1 + options_.noise * (2 * draws_.unit() - 1)));
}

// ---- Copies

// Starts a copy as soon as all links of its route are free for its whole duration. A missing route
// ends the run.
void Engine::start_copy(std::uint32_t number) {
  CopyRun& copy = copies_[number];
  const Instance& from = store_.instance(copy.fetch.from);
  const Instance& to = store_.instance(copy.fetch.to);
  const Route* route = links_.route(from.memory, to.memory);
  copy.ready = agenda_.now();
  if (route == nullptr) {
    outcome_.refuse(RunStatus::kExecuteError, {no_route(input_.memories, from, to)},
                    "no dma path between memories");
    return;
  }
  copy.record = record_.next_event();
  const RunTime duration = with_noise(route->latency_s + static_cast<double>(copy.fetch.bytes) *
                                                             route->seconds_per_byte);
  const Lane::Start start = links_.take(*route, agenda_.now(), duration, copy.record);
  copy.start = start.time;
  if (copy.start > agenda_.now()) copy.cause = start.after;
  const RunTime end = copy.start + duration;
  record_.add_copy(copy, store_, *route, end);
  agenda_.add(end, Event::Kind::kCopyEnd, number);
}

// Handles the end of a copy, which releases both of its instances.
void Engine::end_copy(std::uint32_t number) {
  const CopyRun& copy = copies_[number];
  ++outcome_.result().copies;
  outcome_.result().moved_bytes += copy.fetch.bytes;
  store_.release(copy.fetch.from);
  store_.release(copy.fetch.to);
  copies_.remove(number);
  complete(copy.fetch.op, copy.record);
}

// ---- Tasks

// Starts the ready task with the highest priority, if there is one. The caller knows that the
// processor is free.
void Engine::start_next(Station& station) {
  if (station.ready.empty()) return;
  TaskRun& run = *station.ready.top().run;
  station.ready.pop();
  station.running = &run;
  start(run, station);
}

// Starts a task on its processor: schedules its end, writes it to the record, and starts its body.
void Engine::start(TaskRun& run, Station& station) {
  run.start = agenda_.now();
  if (run.start > run.ready) run.cause = station.last_record;
  app::FormulaFault fault = app::FormulaFault::kNone;
  const double seconds = durations_.begin(run, fault);
  fail_formula(outcome_, input_.data, run, fault);
  const RunTime end = run.start + with_noise(seconds);
  run.record = station.last_record = record_.next_event();
  record_.add_task(run, end);
  agenda_.add_task_end(end, run);
  if (launches_tasks(input_.data, run)) bodies_.begin(run);
}

// Handles the end of a task's own run: frees its processor and its share of memory bandwidth. The
// task is complete when everything that it launched is over, too.
void Engine::end_task(TaskRun& run) {
  run.ended = true;
  Station& station = this->station(run);
  station.running = nullptr;
  durations_.end(run);
  if (run.context) {
    run.context->last_over = run.record;
    bodies_.check_end(*run.context);
  } else {
    complete_run(run);
  }
  start_next(station);
}

// Handles the end of a task and of everything that it launched. The instances are released,
// profiling is reported, waiting operations become ready, and the parent may go on.
void Engine::complete_run(TaskRun& run) {
  ++outcome_.result().tasks;
  --station(run).load;
  if (run.profiling.any()) report_profiling(run);
  if (selection_.has_stealable()) agenda_.add(agenda_.now(), Event::Kind::kSteal, run.number);
  for (InstanceNumber instance : run.instances) {
    if (instance != kVirtual) store_.release(instance);
  }
  const std::int64_t last = run.context ? run.context->last_over : run.record;
  complete(run.op, last);
  uses_[run.op].run = nullptr;
  Context* const parent = run.parent;
  bodies_.close(run);
  tasks_.remove(run);
  if (parent == nullptr) return;
  --parent->outstanding;
  parent->last_over = last;
  if (parent->blocked == Context::Blocked::kAll && parent->outstanding == 0) {
    parent->since = {last, false};
    bodies_.wake(*parent, agenda_.now() + to_time(costs_.future_s));
  }
  bodies_.check_end(*parent);
}

// Reports to the mapper of a task when the task was created, ready, started and ended.
void Engine::report_profiling(const TaskRun& run) {
  const TaskView view = views_.view_of(run, report_views_);
  ProfilingReport report;
  report.created_ns = (run.of != nullptr ? run.of->created : 0) / 1000;
  report.ready_ns = run.ready / 1000;
  report.started_ns = run.start / 1000;
  report.ended_ns = agenda_.now() / 1000;
  report.processor = run.processor;
  mappers_.of(run.number).report_profiling(*this, view, report);
}

// ---- What mappers are offered

// Asks the processors again that deferred their tasks to this event. Unknown events are ignored.
void Engine::trigger_event(MapperEvent event) {
  for (std::int32_t processor : mapper_events_.trigger(event)) {
    agenda_.add(agenda_.now(), Event::Kind::kSelect, processor);
  }
}

// Queues a message, which is delivered at the present time. Returns false for an unknown processor,
// or if too many messages were sent since a task was mapped.
bool Engine::send_message(const Processor& target, std::uint32_t kind,
                          std::span<const std::byte> message) {
  if (input_.processors.number_of(target) < 0) return false;
  const auto number = mapper_events_.post(
      {mappers_.speaking(), target, kind, {message.begin(), message.end()}}, tasks_.live());
  if (number) agenda_.add(agenda_.now(), Event::Kind::kMessage, *number);
  return number.has_value();
}

// Gives a message to the mapper of its target.
void Engine::deliver(const Message& message) {
  const std::int32_t target = input_.processors.number_of(message.target);
  mappers_.scheduler(target).handle_message(*this, message.sender, message.kind, message.bytes);
}

// Sends the message to every processor except the sender's. Returns false if one of them fails.
bool Engine::broadcast(std::uint32_t kind, std::span<const std::byte> message) {
  bool sent = true;
  for (const Processor& processor : input_.processors) {
    if (!(processor == mappers_.speaking())) sent = send_message(processor, kind, message) && sent;
  }
  return sent;
}

}  // namespace groma::sim
