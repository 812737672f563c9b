// Implements the event loop of a simulated run, and computes how long copies and tasks take.
#include "simulate/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/point_text.h"
#include "base/random.h"

namespace groma::sim {
namespace {

// Budget units of one event, statement or mapped task.
constexpr std::int64_t kStepWork = 64;

// Returns the smallest transfer of one access in bytes: the sector of a GPU or the cache line of a
// CPU (machines.md).
double sector_bytes(ProcKind kind) { return kind == ProcKind::kGpu ? 32 : 64; }

// Atomic updates of a GPU in memory other than its framebuffer cross the host link one by one. They
// are ten times slower than streams (machines.md 2, low confidence).
constexpr double kFarAtomicFactor = 10;

// After a gap between two rows, the prefetcher of a core starts anew. It is not ahead for about one
// page of kUnforeseenBytes (measured with `rows` of benchmarks/simulate_benchmark.cc). The core
// then waits for kLinesAwaited cache lines at a time: Intel's and AMD's cores have 10 to 12 line
// buffers.
constexpr double kUnforeseenBytes = 4096, kLinesAwaited = 10;

// Returns the bytes of one point: the sum over all fields of the requirement.
double point_bytes(const app::Data& data, const app::Where& where) {
  double bytes = 0;
  for (const std::uint32_t field : where.fields) {
    bytes += static_cast<double>(data.regions[where.region].fields[field].bytes);
  }
  return bytes;
}

// Returns pseudo-random number `number` of the sequence `seed`, in [0, 1).
double draw(std::uint64_t seed, std::uint64_t number) {
  return static_cast<double>(random_at(seed, number) >> 11) * 0x1.0p-53;
}

}  // namespace

// Prepares the state of processors, nodes and memories. If a record is wanted, also writes the
// names that its events refer to.
Engine::Engine(const app::Data& data, const Spaces& spaces, std::shared_ptr<const Machine> machine,
               const MapperFactory& make, const SimulateOptions& options)
    : Mapping(data, spaces, std::move(machine), make, options.max_bytes),
      options_(options),
      costs_(options.costs.value_or(data.runtime.value_or(RuntimeCosts{}))),
      links_(*input_.machine, input_.memories) {
  stations_.resize(input_.processors.size());
  utility_.resize(static_cast<std::size_t>(input_.machine->node_count()));
  streaming_.resize(input_.memories.size());
  phase_time_.resize(data.phases.size());
  uses_.resize(1);
  if (options.record) {
    record_ = std::make_shared<RunRecord>();
    for (const app::Task& task : data.tasks) record_->tasks.push_back(task.name);
    for (const app::Region& region : data.regions) record_->regions.push_back(region.name);
    record_->phase_names = data.phases;
    record_->processors.reserve(input_.processors.size());
    for (const Processor& p : input_.processors) {
      record_->processors.push_back({std::string(name_of(p.kind)), p.node, p.index});
    }
    record_->memories.reserve(input_.memories.size());
    for (std::size_t m = 0; m < input_.memories.size(); ++m) {
      const auto number = static_cast<std::int32_t>(m);
      const Memory& memory = input_.memories[number];
      record_->memories.push_back({std::string(name_of(memory.kind)), memory.node, memory.index,
                                   input_.memories.group(number).capacity_bytes, 0});
    }
    store_.on_allocation = [this](const Instance& instance, bool made) {
      record(record_->allocations,
             {now_, instance.memory, static_cast<std::int32_t>(instance.region),
              made ? instance.bytes : -instance.bytes});
    };
  }
}

Engine::~Engine() = default;

// Returns about how many bytes of memory the run uses. The schedules of links are estimated by a
// fixed size for each copy.
std::int64_t Engine::bytes() const {
  constexpr std::size_t kScheduled = 128, kEventMade = 64;
  std::int64_t bytes = Mapping::bytes() + run_bytes_ + context_bytes_ + events_.bytes();
  bytes += heap_bytes(uses_) + heap_bytes(ready_) + heap_bytes(messages_);
  bytes += static_cast<std::int64_t>(runs_.size() * sizeof(TaskRun) +
                                     copies_.size() * (sizeof(CopyRun) + kScheduled) +
                                     events_made_.size() * kEventMade);
  if (record_) {
    constexpr std::size_t kPoint = 160;  // bytes of a point, whose text is stored twice
    bytes += heap_bytes(record_->events) + heap_bytes(record_->allocations) +
             heap_bytes(record_->phases);
    bytes += static_cast<std::int64_t>(record_->points.size() * kPoint);
  }
  return bytes;
}

// Handles events in the order of their time until none is left or the run is over.
RunResult Engine::run() {
  if (launch_top()) drain();
  while (!events_.empty() && !outcome_.over()) {
    const Event event = events_.pop();
    now_ = event.time;
    handle(event);
    drain();
    instances_.tell_collected();
    if (stopped()) break;
  }
  return finish();
}

// Returns whether the run is over. Called for every event, statement and mapped task.
bool Engine::stopped() { return !outcome_.spend(kStepWork); }

// Computes the result: the run time in seconds, the throughput, and the record if it is wanted.
// Tasks that are still live are an error, because nothing can wake them.
RunResult Engine::finish() {
  if (!outcome_.over() && live_ > 0) {
    outcome_.fail(input_.data.name,
                  "nothing goes on: tasks wait for each other, or a mapper holds them back");
  }
  outcome_.result().total_seconds = static_cast<double>(now_) * kPicosecond;
  const RunTime counted = input_.data.metric_phase < 0
                              ? now_
                              : phase_time_[static_cast<std::size_t>(input_.data.metric_phase)];
  outcome_.result().seconds = static_cast<double>(counted) * kPicosecond;
  app::FormulaFault fault = app::FormulaFault::kNone;
  const auto work = static_cast<double>(input_.data.work.value({}, fault));
  outcome_.result().unit = input_.data.unit;
  if (outcome_.result().seconds > 0)
    outcome_.result().throughput = work / outcome_.result().seconds;
  if (record_) {
    record_->end = now_;
    for (std::size_t m = 0; m < input_.memories.size(); ++m) {
      record_->memories[m].peak_bytes = store_.peak_bytes(static_cast<std::int32_t>(m));
    }
    links_.describe(*record_);
    outcome_.result().record = record_;
  }
  return std::move(outcome_.result());
}

// ---- Events

// Adds an event. Events at the same time are handled in the order in which they were added. A time
// beyond kLongest ends the run.
void Engine::push(RunTime time, Event::Kind kind, void* subject, std::int64_t id) {
  if (time > kLongest) {
    outcome_.fail(input_.data.name, "it takes longer than 13 days, 2^60 picoseconds");
    return;
  }
  Event event{time, order_++ << kKindBits | static_cast<std::uint64_t>(kind), {}};
  if (subject != nullptr) {
    event.subject = subject;
  } else {
    event.id = id;
  }
  events_.push(event);
}

// Handles one event. A copy that ends releases both of its instances.
void Engine::handle(const Event& event) {
  switch (event.kind()) {
    case Event::Kind::kStep:
      return step(*static_cast<Context*>(event.subject));
    case Event::Kind::kReady:
      ready_.emplace_back(static_cast<Op>(event.id), -1);
      return;
    case Event::Kind::kTaskEnd:
      return end_task(*static_cast<TaskRun*>(event.subject));
    case Event::Kind::kSelect:
      return select(static_cast<std::int32_t>(event.id));
    case Event::Kind::kSteal:
      return steal(static_cast<std::int32_t>(event.id));
    case Event::Kind::kMessage: {
      const Message message = std::move(messages_[static_cast<std::size_t>(event.id)]);
      free_messages_.push_back(static_cast<std::uint32_t>(event.id));
      const std::int32_t target = input_.processors.number_of(message.target);
      mappers_.scheduler(target).handle_message(*this, message.sender, message.kind, message.bytes);
      return;
    }
    case Event::Kind::kCopyEnd:
      break;
  }
  CopyRun& copy = copies_[static_cast<std::size_t>(event.id)];
  ++outcome_.result().copies;
  outcome_.result().moved_bytes += copy.fetch.bytes;
  store_.release(copy.fetch.from);
  store_.release(copy.fetch.to);
  const Op op = copy.fetch.op;
  const std::int64_t record = copy.record;
  free_copies_.push_back(static_cast<std::uint32_t>(event.id));
  complete(op, record);
}

// Handles every operation that became ready, and those that become ready by that. A list replaces
// recursion.
void Engine::drain() {
  for (std::size_t i = 0; i < ready_.size() && !outcome_.over(); ++i)
    op_ready(ready_[i].first, ready_[i].second);
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
  wake(*giver, now_ + to_time(costs_.future_s));
}

// Handles an operation that waits for nothing any more. A copy or task that the runtime has not
// mapped yet becomes ready when it is mapped. A copy then starts, and a task queues at its
// processor.
void Engine::op_ready(Op op, std::int64_t cause) {
  const OpUse& use = uses_[op];
  if (use.kind == OpUse::Kind::kJoin) return future_there(op, cause);
  if (use.kind == OpUse::Kind::kCopy) {
    CopyRun& copy = copies_[use.copy];
    if (cause >= 0) copy.cause = cause;
    if (copy.mapped > now_) return push(copy.mapped, Event::Kind::kReady, nullptr, op);
    return start_copy(copy);
  }
  if (use.kind != OpUse::Kind::kTask) return;
  TaskRun& run = *use.run;
  if (cause >= 0) run.cause = cause;
  if (run.mapped > now_) return push(run.mapped, Event::Kind::kReady, nullptr, op);
  run.ready = now_;
  Station& station = stations_[static_cast<std::size_t>(run.number)];
  station.ready.push({run.priority, order_++, &run});
  if (station.running == nullptr) start_next(run.number);
}

// ---- Copies

// Starts a copy as soon as all links of its route are free for its whole duration. A missing route
// ends the run.
void Engine::start_copy(CopyRun& copy) {
  const Instance& from = store_.instance(copy.fetch.from);
  const Instance& to = store_.instance(copy.fetch.to);
  const Route* route = links_.route(from.memory, to.memory);
  const auto index = uses_[copy.fetch.op].copy;
  copy.ready = now_;
  if (route == nullptr) {
    outcome_.refuse(RunStatus::kExecuteError, {no_route(input_.memories, from, to)},
                    "no dma path between memories");
    return;
  }
  if (record_) copy.record = static_cast<std::int64_t>(record_->events.size());
  const RunTime duration = to_time(with_noise(
      route->latency_s + static_cast<double>(copy.fetch.bytes) * route->seconds_per_byte));
  const Lane::Start start = links_.take(*route, now_, duration, copy.record);
  copy.start = start.time;
  if (copy.start > now_) copy.cause = start.after;
  const RunTime end = copy.start + duration;
  if (record_) {
    RunRecord::Event event;
    event.kind =
        copy.fetch.reduction ? RunRecord::Event::Kind::kReduction : RunRecord::Event::Kind::kCopy;
    event.name = copy.name;
    event.where = to.memory;
    event.from = from.memory;
    event.region = static_cast<std::int32_t>(to.region);
    event.statement = to.statement;
    event.route = route->number;
    event.bytes = copy.fetch.bytes;
    event.mapped = copy.mapped;
    event.ready = copy.ready;
    event.start = copy.start;
    event.end = end;
    event.cause = copy.cause;
    event.after = copy.since.event;
    event.after_start = copy.since.start;
    record(record_->events, event);
  }
  push(end, Event::Kind::kCopyEnd, nullptr, index);
}

// ---- Tasks

// Starts the ready task with the highest priority, if there is one. The caller knows that the
// processor is free.
void Engine::start_next(std::int32_t processor) {
  Station& station = stations_[static_cast<std::size_t>(processor)];
  if (station.ready.empty()) return;
  TaskRun& run = *station.ready.top().run;
  station.ready.pop();
  station.running = &run;
  start(run);
}

// Returns the duration changed by a random factor between 1 - noise and 1 + noise.
double Engine::with_noise(double seconds) {
  if (options_.noise <= 0) return seconds;
  return seconds * (1 + options_.noise * (2 * draw(options_.seed, draws_++) - 1));
}

// Returns how many bytes memory moves for each byte that the task uses, at least 1. In AOS the
// whole structure moves. A loop that runs across the order of the dimensions moves a whole sector
// for each element.
double Engine::layout_factor(const TaskRun& run, std::size_t requirement,
                             const Instance& instance) const {
  const app::Where& wants = where_of(input_.data, run, requirement);
  const double sector = sector_bytes(run.processor.kind);
  const double used = point_bytes(input_.data, wants);
  const auto count = static_cast<double>(wants.fields.size());
  double factor = 1;
  if (instance.layout.fields == FieldOrder::kAos) {
    const auto whole = static_cast<double>(
        input_.spaces.region(instance.region).point_bytes(instance.groups, instance.layout));
    const double moved = whole <= sector ? whole : std::min(whole, count * sector);
    factor = std::max(1.0, moved / used);
  }
  if (loops_across(run, requirement, instance)) {
    factor = std::max(factor, std::max(1.0, sector * count / used));
  }
  return factor;
}

// Returns whether the variant's loops run in another order of the dimensions than the instance has.
bool Engine::loops_across(const TaskRun& run, std::size_t requirement,
                          const Instance& instance) const {
  const auto& loops = run.variant->loops;
  return loops && run.pieces[requirement]->box.dimensions() > 1 &&
         *loops != instance.layout.dimensions;
}

// Returns the share of the streamed bytes that no prefetcher fetches in time, from 0 to 1. It is 0
// on GPU and OMP processors, because their threads together are ahead of memory.
double Engine::unforeseen_share(const TaskRun& run, std::size_t requirement,
                                const Instance& instance) const {
  const ProcKind kind = run.processor.kind;
  if (kind == ProcKind::kGpu || kind == ProcKind::kOmp) return 0;
  const Rect &box = run.pieces[requirement]->box, &whole = instance.shape->box;
  const int n = box.dimensions();
  if (n < 2 || loops_across(run, requirement, instance)) return 0;
  const app::Where& wants = where_of(input_.data, run, requirement);
  double row = 0, rows = 1;  // contiguous bytes of a row, and the number of rows
  if (instance.layout.fields == FieldOrder::kAos) {
    row = static_cast<double>(
        input_.spaces.region(instance.region).point_bytes(instance.groups, instance.layout));
  } else {
    row = point_bytes(input_.data, wants) / static_cast<double>(wants.fields.size());
  }
  bool in_row = true;
  for (int i = 0; i < n; ++i) {
    const int d = instance.layout.dimensions == DimensionOrder::kC ? n - 1 - i : i;
    (in_row ? row : rows) *= static_cast<double>(box.extents[d]);
    in_row = in_row && box.extents[d] == whole.extents[d];
  }
  return rows > 1 && row > 0 ? std::min(1.0, kUnforeseenBytes / row) : 0;
}

// Returns how long the task runs in seconds, without noise. This is a roofline: the processor's
// operations and the traffic of each memory happen at the same time, and the longest of them
// counts. The kernel launch latency is added. The bandwidth of a memory is shared by the tasks that
// work on it when this task starts.
double Engine::seconds_of(TaskRun& run) {
  const app::Variant& variant = *run.variant;
  const NodeType& node = input_.machine->node(run.processor.node);
  const ProcessorGroup& group = *node.find(run.processor.kind);
  std::vector<app::PieceSize>& sizes = piece_sizes_;
  sizes.clear();
  for (const Piece* piece : run.pieces) sizes.push_back(size_of(piece));
  app::FormulaFault fault = app::FormulaFault::kNone;
  const auto value = [&](const app::Code& code) {
    return std::max<double>(0, static_cast<double>(code.value(run.arguments, fault, sizes)));
  };
  const double flops = value(variant.flops);
  const double efficiency = std::max(1.0, value(variant.efficiency)) / 100;
  const double kernels = value(variant.kernels);
  double compute = 0;
  if (flops > 0 && group.flops_per_s > 0) {
    compute = flops / (group.flops_per_s * group.sustained_fraction * efficiency *
                       (variant.single ? 2 : 1));
  }
  std::vector<Load>& loads = loads_;
  loads.clear();
  const auto add = [&](std::size_t r, double bytes, Access access) {
    const InstanceNumber number = run.instances[r];
    if (number == kVirtual || bytes <= 0) return;
    const Instance& instance = store_.instance(number);
    const MemKind kind = input_.memories[instance.memory].kind;
    double unforeseen = 0;
    if (access == Access::kStream) {
      bytes *= layout_factor(run, r, instance);
      unforeseen = bytes * unforeseen_share(run, r, instance);
    }
    if (access == Access::kAtomic && run.processor.kind == ProcKind::kGpu &&
        kind != MemKind::kFbmem) {
      bytes *= kFarAtomicFactor;
    }
    const auto known = std::find_if(loads.begin(), loads.end(), [&](const Load& load) {
      return load.memory == instance.memory;
    });
    if (known == loads.end()) {
      loads.push_back({instance.memory, bytes, unforeseen});
    } else {
      known->bytes += bytes;
      known->unforeseen += unforeseen;
    }
  };
  const std::vector<app::Requirement>& requirements = input_.data.tasks[run.task].requirements;
  for (std::size_t r = 0; r < requirements.size(); ++r) {
    bool listed = false;
    for (const app::Traffic& traffic : variant.traffic) {
      if (traffic.requirement != r) continue;
      listed = true;
      add(r, value(traffic.bytes), traffic.access);
    }
    if (listed || run.pieces[r] == nullptr || variant.inner) continue;
    const app::Where& where = where_of(input_.data, run, r);
    const double bytes = point_bytes(input_.data, where) * static_cast<double>(sizes[r].points);
    const Privilege privilege = where.privilege;
    const bool twice = privilege == Privilege::kReadWrite || privilege == Privilege::kReduce;
    if (privilege != Privilege::kNoAccess) add(r, twice ? 2 * bytes : bytes, Access::kStream);
  }
  double memory = 0;
  run.streams = 0;
  for (const Load& load : loads) {
    const auto m = static_cast<std::size_t>(load.memory);
    run.streams |=
        static_cast<std::uint16_t>(1U << static_cast<unsigned>(input_.memories[load.memory].kind));
    const auto sharing = static_cast<double>(++streaming_[m]);
    const Affinity* affinity = node.find(run.processor.kind, input_.memories[load.memory].kind);
    if (affinity == nullptr || affinity->bandwidth_bytes_per_s <= 0) continue;
    const double alone = affinity->bandwidth_bytes_per_s;
    const double all = input_.memories.group(load.memory).bandwidth_bytes_per_s;
    const double bandwidth = all > 0 ? std::min(alone, all / sharing) : alone;
    // Extra seconds for each byte that no prefetcher fetches: the core waits for its line buffers.
    const double waits =
        affinity->latency_s / (kLinesAwaited * sector_bytes(run.processor.kind)) - 1 / alone;
    const double moving = std::max(load.bytes / bandwidth,
                                   load.bytes / alone + load.unforeseen * std::max(0.0, waits));
    memory = std::max(memory, affinity->latency_s + moving);
  }
  const double least = value(variant.nanoseconds) * 1e-9;
  fail_formula(outcome_, input_.data, run, fault);
  return kernels * group.launch_latency_s + std::max({compute, memory, least});
}

// Returns the number of a point in the list of points of the record. New points are added.
std::int32_t Engine::point_number(const Point& point) {
  const auto number = static_cast<std::int32_t>(record_->points.size());
  const auto [known, is_new] = point_numbers_.try_emplace(text_of(point), number);
  if (is_new) record_->points.push_back(known->first);
  return known->second;
}

// Starts a task on its processor: schedules its end, writes it to the record, and starts its body.
void Engine::start(TaskRun& run) {
  run.start = now_;
  Station& station = stations_[static_cast<std::size_t>(run.number)];
  if (run.start > run.ready) run.cause = station.last_record;
  const RunTime end = now_ + to_time(with_noise(seconds_of(run)));
  if (record_) {
    run.record = static_cast<std::int64_t>(record_->events.size());
    RunRecord::Event event;
    event.kind = RunRecord::Event::Kind::kTask;
    event.name = static_cast<std::int32_t>(run.task);
    if (run.launch != nullptr && run.launch->is_index) event.point = point_number(run.point);
    event.where = run.number;
    event.mapping = run.mapping;
    event.mapped = run.mapped;
    event.ready = run.ready;
    event.start = now_;
    event.end = end;
    event.cause = run.cause;
    if (run.parent != nullptr) {
      event.after = run.parent->since.event;
      event.after_start = run.parent->since.start;
    }
    record(record_->events, event);
    station.last_record = run.record;
  }
  push(end, Event::Kind::kTaskEnd, &run, 0);
  if (launches_tasks(input_.data, run)) begin_context(run);
}

// Handles the end of a task's own run: frees its processor and its share of memory bandwidth. The
// task is complete when everything that it launched is over, too.
void Engine::end_task(TaskRun& run) {
  run.ended = true;
  Station& station = stations_[static_cast<std::size_t>(run.number)];
  station.running = nullptr;
  for (std::size_t k = 0; run.streams >> k != 0; ++k) {
    if ((run.streams >> k & 1) == 0) continue;
    --streaming_[static_cast<std::size_t>(
        input_.memories.nearest(run.processor, static_cast<MemKind>(k)))];
  }
  if (run.context) {
    run.context->last_over = run.record;
    check_end(*run.context);
  } else {
    complete_run(run);
  }
  start_next(static_cast<std::int32_t>(&station - stations_.data()));
}

// Handles the end of a task and of everything that it launched. The instances are released,
// profiling is reported, waiting operations become ready, and the parent may go on.
void Engine::complete_run(TaskRun& run) {
  ++outcome_.result().tasks;
  --stations_[static_cast<std::size_t>(run.number)].load;
  if (run.profiling.any()) {
    const TaskView view = views_.view_of(run, report_views_);
    ProfilingReport report;
    report.created_ns = (run.of != nullptr ? run.of->created : 0) / 1000;
    report.ready_ns = run.ready / 1000;
    report.started_ns = run.start / 1000;
    report.ended_ns = now_ / 1000;
    report.processor = run.processor;
    mappers_.of(run.number).report_profiling(*this, view, report);
  }
  if (stealable_ > 0) push(now_, Event::Kind::kSteal, nullptr, run.number);
  for (InstanceNumber instance : run.instances) {
    if (instance != kVirtual) store_.release(instance);
  }
  const std::int64_t last = run.context ? run.context->last_over : run.record;
  complete(run.op, last);
  uses_[run.op].run = nullptr;
  --live_;
  Context* const parent = run.parent;
  if (run.context) {
    --contexts_;
    context_bytes_ -= run.context->bytes;
  }
  run.context.reset();
  free_runs_.push_back(&run);
  if (parent == nullptr) return;
  --parent->outstanding;
  parent->last_over = last;
  if (parent->blocked == Context::Blocked::kAll && parent->outstanding == 0) {
    parent->since = {last, false};
    wake(*parent, now_ + to_time(costs_.future_s));
  }
  check_end(*parent);
}

// ---- What mappers are offered

MapperEvent Engine::create_event() {
  events_made_[++last_event_] = false;
  return last_event_;
}

// Asks the processors again that deferred their tasks to this event. Unknown events are ignored.
void Engine::trigger_event(MapperEvent event) {
  const auto found = events_made_.find(event);
  if (found == events_made_.end()) return;
  found->second = true;
  const auto deferred = deferred_.find(event);
  if (deferred == deferred_.end()) return;
  for (std::int32_t processor : deferred->second) {
    push(now_, Event::Kind::kSelect, nullptr, processor);
  }
  deferred_.erase(deferred);
}

// Queues a message, which is delivered at the present time. Returns false for an unknown processor,
// or if too many messages were sent since a task was mapped.
bool Engine::send_message(const Processor& target, std::uint32_t kind,
                          std::span<const std::byte> message) {
  const std::int32_t number = input_.processors.number_of(target);
  // Without this limit, mappers could send each other messages for ever.
  constexpr std::int64_t kMaxInVain = std::int64_t{1} << 20;
  if (number < 0 || sent_in_vain_ >= kMaxInVain + 16 * live_) return false;
  ++sent_in_vain_;
  if (free_messages_.empty()) {
    free_messages_.push_back(static_cast<std::uint32_t>(messages_.size()));
    messages_.emplace_back();
  }
  const std::uint32_t slot = free_messages_.back();
  free_messages_.pop_back();
  messages_[slot] = {mappers_.speaking(), target, kind, {message.begin(), message.end()}};
  push(now_, Event::Kind::kMessage, nullptr, slot);
  return true;
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
