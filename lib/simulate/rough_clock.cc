// Implements RoughClock, which estimates when the tasks and copies of a rehearsal begin and end.
#include "simulate/rough_clock.h"

#include <algorithm>
#include <limits>

namespace groma::sim {
namespace {

template <typename Value>
Value& at(std::vector<Value>& values, std::size_t index) {
  if (index >= values.size()) values.resize(index + 1);
  return values[index];
}

}  // namespace

RoughClock::RoughClock(RunParts& parts, Links& links, const RuntimeCosts& costs,
                       const TimeModel& model)
    : parts_(parts),
      links_(links),
      costs_(costs),
      durations_(parts.input, parts.store, model, /*by_requirement=*/false),
      processors_(parts.input.processors.size()),
      runtime_free_(static_cast<std::size_t>(parts.input.machine->node_count()), 0),
      uses_(parts.input.memories.size()) {
  parts_.valid_data.log_uses_to(&log_);
}

// ---- Tasks and copies

// Sets `ready_` for the ops of the log: the time at which the last of the ops ends for which each
// waits because of its data.
void RoughClock::note_ready_times() {
  parts_.outcome.spend(static_cast<std::int64_t>(log_.waits.size()));
  for (const ValidData::DataDependence& wait : log_.waits) {
    if (wait.on >= ends_.size()) continue;
    RunTime& ready = at(ready_, wait.op);
    ready = std::max(ready, ends_[wait.on]);
  }
}

// The numbers of ops grow, so an op of a later task has no entry yet.
void RoughClock::forget_ready_times() {
  for (const ValidData::DataDependence& wait : log_.waits) at(ready_, wait.op) = 0;
  log_.clear();
}

// Returns the end of a copy, which starts when its links are free. A copy without a route takes no
// time, since the run is refused anyway.
RunTime RoughClock::add_copy(const NeededCopy& copy, RunTime mapped) {
  const RunTime ready = std::max(mapped, ready_time(copy.op));
  const Route* const route =
      links_.route(parts_.store.instance(copy.from).memory, parts_.store.instance(copy.to).memory);
  if (route == nullptr) return ready;
  const RunTime duration = to_picoseconds(route->seconds_for(copy.bytes));
  // Later copies may be ready earlier, so no interval may be forgotten.
  const RunTime start = links_.reserve_links(*route, ready, duration, -1, 0).time;
  return at(ends_, copy.op) = std::min(start + duration, kLongest);
}

// Returns how long a task runs that begins at `begin`. The tasks that then use the bandwidth of its
// memories take a share of it.
RunTime RoughClock::task_duration(TaskRun& run, RunTime begin) {
  app::FormulaFault fault = app::FormulaFault::kNone;
  used_.clear();
  return to_picoseconds(durations_.seconds_with(
      run,
      [&](std::int32_t memory) {
        used_.push_back(memory);
        const std::vector<BandwidthUse>& uses = uses_[static_cast<std::size_t>(memory)].last;
        return 1 + std::count_if(uses.begin(), uses.end(), [begin](const BandwidthUse& use) {
                 return use.begin <= begin && begin < use.end;
               });
      },
      fault));
}

// Notes that the task that was added last uses the bandwidth of its memories. An old use makes room
// for the new one.
void RoughClock::note_bandwidth_use(const BandwidthUse& use) {
  for (const std::int32_t memory : used_) {
    BandwidthUses& uses = uses_[static_cast<std::size_t>(memory)];
    at(uses.last, uses.count++ % kMaxUses) = use;
  }
}

// Returns the first of the processors that is free for a task of this duration, and sets `start` to
// the time, not before `ready`, from which it is free.
LinkSchedule* RoughClock::first_free(std::span<const Processor> processors, RunTime ready,
                                     RunTime duration, RunTime& start) {
  LinkSchedule* first = nullptr;
  for (const Processor& processor : processors) {
    const auto number = static_cast<std::size_t>(parts_.input.processors.number_of(processor));
    LinkSchedule::CopyStart here{ready, -1};
    processors_[number].delay_until_free(here, duration);
    if (first != nullptr && here.time >= start) continue;
    start = here.time;
    first = &processors_[number];
  }
  return first;
}

// The runtime of the node maps the task; then its copies are made; then it runs. The duration
// depends on the start and the start on the duration. So the start is found twice, the first time
// for a task that takes no time.
void RoughClock::add_task(TaskRun& run, LaunchingBody* body, std::span<const Processor> processors,
                          std::span<const NeededCopy> copies) {
  note_ready_times();
  RunTime mapped = 0;
  if (body != nullptr) {
    const bool remote =
        run.parent->shards.size() < 2 && run.parent->run->processor->node != run.processor->node;
    RunTime& free = runtime_free_[static_cast<std::size_t>(run.processor->node)];
    free = std::max(free, body->now + (remote ? to_picoseconds(costs_.remote_s) : 0)) +
           to_picoseconds(body->replaying > 0 ? costs_.replay_s : costs_.map_s);
    free = std::min(free, kLongest);
    mapped = free;
  }
  RunTime ready =
      std::max({mapped, body == nullptr ? 0 : body->futures_complete, ready_time(run.op)});
  for (const NeededCopy& copy : copies) {
    ready = std::max(ready, add_copy(copy, mapped + to_picoseconds(costs_.copy_s)));
  }
  RunTime start = ready;
  first_free(processors, ready, 0, start);
  const RunTime duration = task_duration(run, start);
  LinkSchedule* const processor = first_free(processors, ready, duration, start);
  forget_ready_times();
  if (processor == nullptr) return;
  const RunTime end = std::min(start + duration, kLongest);
  processor->reserve_interval(start, end, -1, 0);
  note_bandwidth_use({start, end});
  at(begins_, run.op) = start;
  at(ends_, run.op) = end;
  end_ = std::max(end_, end);
  if (body == nullptr) return;
  body->launch_mapped = std::max(body->launch_mapped, mapped);
  body->launch_end = std::max(body->launch_end, end);
}

// ---- Bodies and launches

RoughClock::LaunchingBody RoughClock::begin_body(const TaskRun& run) const {
  LaunchingBody body;
  body.now = begins_[run.op];
  body.last_end = ends_[run.op];
  body.is_top_level = run.parent == nullptr;
  return body;
}

void RoughClock::end_body(const TaskRun& run, const LaunchingBody& body, LaunchingBody* outer) {
  RunTime& end = at(ends_, run.op);
  end = std::max({end, body.now, body.last_end});
  end_ = std::max(end_, end);
  if (outer != nullptr) outer->launch_end = std::max(outer->launch_end, end);
}

void RoughClock::begin_launch(LaunchingBody& body, const app::Launch& launch) {
  body.futures_complete = body.launch_mapped = body.launch_end = 0;
  for (const std::uint32_t future : launch.takes) {
    body.futures_complete = std::max(body.futures_complete, at(body.futures, future));
  }
}

void RoughClock::end_launch(LaunchingBody& body, const app::Launch& launch) {
  body.now =
      std::min(std::max(body.launch_mapped, body.now + to_picoseconds(costs_.issue_s)), kLongest);
  body.last_end = std::max(body.last_end, body.launch_end);
  body.iteration_end = std::max(body.iteration_end, body.launch_end);
  if (launch.gives >= 0) {
    at(body.futures, static_cast<std::size_t>(launch.gives)) = body.launch_end;
  }
}

void RoughClock::wait_for_all(LaunchingBody& body) const {
  if (body.last_end > body.now) body.now = body.last_end + to_picoseconds(costs_.future_s);
}

void RoughClock::wait_for_future(LaunchingBody& body, int future) const {
  const auto index = static_cast<std::size_t>(future);
  if (index < body.futures.size() && body.futures[index] > body.now) {
    body.now = body.futures[index] + to_picoseconds(costs_.future_s);
  }
}

// ---- Loops and phases

RoughClock::Mark RoughClock::mark(const LaunchingBody& body) const {
  return {static_cast<double>(std::max(body.now, body.last_end)) * kPicosecond + skipped_,
          measured_};
}

// Tasks from before the loop that still run do not count.
RoughClock::Mark RoughClock::mark_of_iteration(const LaunchingBody& body) const {
  return {static_cast<double>(std::max(body.now, body.iteration_end)) * kPicosecond + skipped_,
          measured_};
}

// The repeated iterations of a loop of the top-level task delay all that comes later, so
// processors, links and data stay as they are. Those of another task delay only that task.
void RoughClock::repeat_iteration(LaunchingBody& body, const Mark& before, const Mark& last,
                                  std::int64_t times) {
  const auto repeated = static_cast<double>(times);
  const double more = repeated * (last.reached - before.reached);
  if (body.is_top_level) {
    skipped_ += more;
  } else {
    for (RunTime* const time : {&body.now, &body.last_end, &body.iteration_end}) {
      *time = std::min(*time + to_picoseconds(more), kLongest);
    }
  }
  measured_ += repeated * (last.measured - before.measured);
}

void RoughClock::end_measured_phase(const LaunchingBody& body, const Mark& begin) {
  measured_ += mark(body).reached - begin.reached;
}

std::optional<double> RoughClock::measured_seconds() const {
  const double longest = static_cast<double>(kLongest) * kPicosecond;
  if (end_ == kLongest || skipped_ >= longest || measured_ >= longest) return std::nullopt;
  return parts_.input.data.metric_phase < 0 ? static_cast<double>(end_) * kPicosecond + skipped_
                                            : measured_;
}

}  // namespace groma::sim
