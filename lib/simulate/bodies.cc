// Implements Bodies: runs the statements of task bodies, and lets tasks wait for what they
// launched.
#include "simulate/bodies.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "simulate/bytes.h"
#include "simulate/links.h"
#include "simulate/run_parts.h"

namespace groma::sim {

// In a new object no task body runs, and no time has been spent in any phase.
Bodies::Bodies(const RunInput& input, const OpGraph& ops, Launcher& launcher, LoopReplay& replay,
               SteadyLoop& steady, Outcome& outcome, Agenda& agenda, RecordWriter& record,
               RunCounts& counts, std::int64_t max_iterations, RunTime future_time)
    : input_(input),
      ops_(ops),
      launcher_(launcher),
      replay_(replay),
      steady_(steady),
      outcome_(outcome),
      agenda_(agenda),
      record_(record),
      counts_(counts),
      max_iterations_(max_iterations),
      future_time_(future_time) {
  counts_.phase_time.resize(input.data.phases.size());
}

// Makes the context of the task, which holds the state of its body, and counts its memory. Ends the
// run if there are too many contexts.
void Bodies::begin_body(TaskRun& run) {
  run.context = std::make_unique<LaunchingTask>();
  LaunchingTask& context = *run.context;
  const app::Task& task = input_.data.tasks[run.task];
  if (!launcher_.fill_context(context, run)) return;
  if (++open_ > kMaxContexts) {
    outcome_.fail(task.name,
                  fmt::format("more than {} tasks that launch are under way", kMaxContexts));
    return;
  }
  context.futures.assign(task.futures, kBeginning);
  context.bytes = static_cast<std::int64_t>(sizeof(LaunchingTask)) +
                  heap_bytes(context.requirements) + heap_bytes(context.frame) +
                  heap_bytes(context.ancestors) + heap_bytes(context.futures);
  bytes_ += context.bytes;
  if (!outcome_.within_limits(task.name)) return;
  context.places.push_back({&task.body});
  context.since = {run.records.own, true};
  agenda_.add_step(agenda_.now(), context);
}

// Lets the body of a waiting task go on at `time`, with the statement at which it stopped.
void Bodies::resume_body_at(LaunchingTask& context, RunTime time) {
  context.wait.what = LaunchingTask::BodyWait::WaitReason::kNothing;
  if (context.catches_up && time <= agenda_.now()) {
    steady_.note_launch_time(time - context.now);
    context.now = time;
    goes_on_ = true;
  } else {
    agenda_.add_step(time, context);
  }
}

void Bodies::catch_up(LaunchingTask& context) {
  context.wait.what = LaunchingTask::BodyWait::WaitReason::kNothing;
  context.catches_up = true;
  do {
    goes_on_ = false;
    run_statements(context);
  } while (goes_on_);
  context.catches_up = false;
}

// Returns whether all tasks that this task launched are over. If not, the task waits for them.
bool Bodies::launched_tasks_are_over(LaunchingTask& context) {
  if (context.outstanding == 0) return true;
  context.wait.what = LaunchingTask::BodyWait::WaitReason::kAll;
  return false;
}

// Returns true if the task has as many launches in flight as its window allows. The task then waits
// until enough of them are complete.
bool Bodies::waits_for_window(LaunchingTask& context) const {
  if (context.catches_up) steady_.note_window_check();
  if (!context.window.is_full(context.now)) return false;
  const std::optional<RunTime> room = context.window.wait_for_room();
  if (!room) {
    context.wait.what = LaunchingTask::BodyWait::WaitReason::kWindow;
    return true;
  }
  const RunTime time = *room + future_time_;
  if (context.catches_up && time <= agenda_.now()) {
    context.now = time;
    return false;
  }
  agenda_.add_step(time, context);
  return true;
}

// A launch that uses data of an earlier launch may have to wait before it is issued. After each
// launch, this function returns. It is called again when all points of the launch are mapped.
void Bodies::run_statements(LaunchingTask& context) {
  while (!outcome_.over() && outcome_.spend(kStepWork)) {
    if (context.places.empty()) {
      context.issued = true;
      return end_task_if_over(context);
    }
    LaunchingTask::BodyPosition& place = context.places.back();
    if (place.next == place.body->size()) {
      if (!leave_body(context)) return;
      continue;
    }
    if (++counts_.statements > kMaxStatements) {
      outcome_.fail(input_.data.tasks[context.run->task].name,
                    fmt::format("more than {} statements", kMaxStatements));
      return;
    }
    const app::Statement& statement = (*place.body)[place.next];
    if (const auto* launch = std::get_if<app::Launch>(&statement.node)) {
      // Legion does not wait within a trace that it replays.
      if (context.replaying == 0 && waits_for_window(context)) return;
      if (conflicts_with_earlier(context, *launch)) {
        context.wait.what = LaunchingTask::BodyWait::WaitReason::kConflict;
        return;
      }
      ++place.next;
      return on_launch(context, *launch);
    }
    if (!enter(context, statement)) return;
  }
}

// Enters a loop or a phase, or passes a wait statement. Returns false if the task has to wait
// first; the statement is then tried again.
bool Bodies::enter(LaunchingTask& context, const app::Statement& statement) {
  if (const auto* loop = std::get_if<app::Loop>(&statement.node)) return enter_loop(context, *loop);
  const std::size_t at = context.places.size() - 1;
  if (const auto* phase = std::get_if<app::Phase>(&statement.node)) {
    if (!launched_tasks_are_over(context)) return false;
    ++context.places[at].next;
    LaunchingTask::BodyPosition inner{&phase->body};
    inner.phase = static_cast<int>(phase->phase);
    inner.phase_start = agenda_.now();
    context.places.push_back(inner);
    return true;
  }
  const int future = std::get<app::Wait>(statement.node).future;
  if (future < 0) {
    if (!launched_tasks_are_over(context)) return false;
  } else if (const Op op = context.futures[static_cast<std::size_t>(future)]; !ops_.done(op)) {
    context.wait.what = LaunchingTask::BodyWait::WaitReason::kFuture;
    context.wait.future = op;
    return false;
  }
  ++context.places[at].next;
  return true;
}

// Enters a loop at its first iteration, or skips the loop if it has no iterations. Returns false if
// the run is over.
bool Bodies::enter_loop(LaunchingTask& context, const app::Loop& loop) {
  std::int64_t count = 0;
  if (!launcher_.count_iterations(context, loop, count)) return false;
  const bool outermost =
      context.run->parent == nullptr &&
      std::none_of(context.places.begin(), context.places.end(),
                   [](const LaunchingTask::BodyPosition& place) { return place.loop != nullptr; });
  if (outermost) count = std::min(count, max_iterations_);
  ++context.places.back().next;
  if (count <= 0) return true;
  if (loop.slot >= 0) context.frame[static_cast<std::size_t>(loop.slot)] = 0;
  LaunchingTask::BodyPosition inner{&loop.body};
  inner.loop = &loop;
  inner.count = count;
  context.places.push_back(inner);
  if (outermost) replay_.begin_loop(context, loop, count);
  return true;
}

// Handles the end of a body: ends its phase, or begins the next iteration of its loop. Returns
// false if the task has to wait first.
bool Bodies::leave_body(LaunchingTask& context) {
  LaunchingTask::BodyPosition& place = context.places.back();
  if (place.phase >= 0) {
    if (!launched_tasks_are_over(context)) return false;
    const auto phase = static_cast<std::size_t>(place.phase);
    RunTime& total = counts_.phase_time[phase];
    total = std::min(kLongest, total + agenda_.now() - place.phase_start);
    record_.add_phase(place.phase, place.phase_start, agenda_.now());
  }
  if (place.loop != nullptr) {
    const bool traced = place.loop->traced;
    // At the beginning of a trace Legion waits if the window is full, unless the trace is within
    // another one.
    const bool outermost_trace = traced && context.replaying == (place.iteration > 0 ? 1 : 0);
    if (outermost_trace && place.iteration + 1 < place.count && waits_for_window(context)) {
      return false;
    }
    if (++place.iteration < place.count) {
      if (traced && place.iteration == 1) ++context.replaying;
      if (place.loop->slot >= 0) {
        context.frame[static_cast<std::size_t>(place.loop->slot)] = place.iteration;
      }
      place.next = 0;
      // If the loop body has no statements, its iterations do nothing, so skip to the last
      // iteration.
      if (place.body->empty()) place.iteration = place.count - 1;
      replay_.begin_iteration(context, *place.loop);
      return !steady_.begin_iteration(context);
    }
    steady_.end_loop(*place.loop);
    replay_.end_loop(context, *place.loop);
    if (traced && place.count > 1) --context.replaying;
  }
  context.places.pop_back();
  return true;
}

// Returns true if `launch` uses data of an earlier launch that is not mapped together with
// everything that it launches. `launch` then has to wait, because mapping follows the order of the
// program.
bool Bodies::conflicts_with_earlier(const LaunchingTask& context, const app::Launch& launch) const {
  for (const auto& [earlier, left] : context.inner) {
    for (std::size_t a = 0; a < earlier->data.size(); ++a) {
      for (std::size_t b = 0; b < launch.data.size(); ++b) {
        if (input_.spaces.interfere(*earlier, a, launch, b)) return true;
      }
    }
  }
  return false;
}

// Decrements two counters in the context of the parent task: `unmapped`, which counts tasks of all
// its launches, and the count in `inner`, which counts only tasks of the launch to which this task
// belongs. A task is counted until it is mapped together with everything that it launches.
void Bodies::note_mapped(const TaskRun& run, LastAwaitedEvent since) {
  LaunchingTask* const parent = run.parent;
  if (parent == nullptr) return;
  --parent->unmapped;
  const auto inner = std::find_if(parent->inner.begin(), parent->inner.end(),
                                  [&](const auto& each) { return each.first == run.launch; });
  if (inner != parent->inner.end() && --inner->second == 0) {
    parent->inner.erase(inner);
    if (parent->wait.what == LaunchingTask::BodyWait::WaitReason::kConflict) {
      parent->since = since;
      resume_body_at(*parent, agenda_.now());
    }
  }
  report_if_mapped(*parent, since);
}

// Notes a task that launches other tasks as completely mapped, as soon as all launches of its body
// are issued and all launched tasks are completely mapped.
void Bodies::report_if_mapped(LaunchingTask& context, LastAwaitedEvent since) {
  if (!context.issued || context.unmapped > 0 || context.told) return;
  context.told = true;
  note_mapped(*context.run, since);
}

// Does nothing while the body has statements left. Ends the task when the task itself and all tasks
// that it launched have ended.
void Bodies::end_task_if_over(LaunchingTask& context) {
  if (!context.issued || outcome_.over()) return;
  report_if_mapped(context, context.since);
  if (context.outstanding == 0 && context.run->ended) on_end(*context.run);
}

// Subtracts the memory of the context from the counted memory. Does nothing for a task without a
// context.
void Bodies::free_context(TaskRun& run) {
  if (run.context == nullptr) return;
  --open_;
  bytes_ -= run.context->bytes;
  run.context.reset();
}

}  // namespace groma::sim
