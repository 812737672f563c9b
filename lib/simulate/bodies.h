// Bodies: runs the bodies of tasks that launch tasks, statement by statement, in simulated time.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "app/data.h"
#include "simulate/agenda.h"
#include "simulate/launcher.h"
#include "simulate/loop_replay.h"
#include "simulate/op_graph.h"
#include "simulate/outcome.h"
#include "simulate/record_writer.h"
#include "simulate/run_counts.h"
#include "simulate/run_input.h"
#include "simulate/steady_loop.h"
#include "simulate/task_run.h"

namespace groma::sim {

// The largest number of unfinished tasks that launch other tasks. It limits the memory of their
// contexts.
inline constexpr std::int64_t kMaxContexts = std::int64_t{1} << 18;

class Bodies {
 public:
  // The object keeps references to all arguments, so they must outlive it. `max_iterations` limits
  // the number of iterations of each outermost loop of the top-level task.
  // A task that waits for the window of its launches goes on `future_time` after there is room.
  Bodies(const RunInput& input, const OpGraph& ops, Launcher& launcher, LoopReplay& replay,
         SteadyLoop& steady, Outcome& outcome, Agenda& agenda, RecordWriter& record,
         RunCounts& counts, std::int64_t max_iterations, RunTime future_time);

  // Called to issue a launch. The launching task then waits until resume_body_at() is called for
  // it.
  std::function<void(LaunchingTask&, const app::Launch&)> on_launch;
  // Called when a task that launches other tasks has ended together with everything that it
  // launched.
  std::function<void(TaskRun&)> on_end;

  // Starts the body of a task that launches other tasks. The first statement runs at the present
  // simulated time.
  void begin_body(TaskRun& run);
  // Runs statements of a task body until one of them has to wait, a launch is issued, or the body
  // ends.
  void run_statements(LaunchingTask& context);
  // Lets a task that SteadyLoop has held back execute its statements, up to those whose time has
  // not come.
  void catch_up(LaunchingTask& context);
  // Lets a waiting task continue its body at `time`.
  void resume_body_at(LaunchingTask& context, RunTime time);
  // Notes that a task, and everything that it launches, is mapped. If a launch of the parent task
  // waits for this, the parent task continues. `since` is the recorded event without which the
  // mapping could not have happened at this time.
  void note_mapped(const TaskRun& run, LastAwaitedEvent since);
  // Ends the task if its body, the task itself and all tasks that it launched are over.
  void end_task_if_over(LaunchingTask& context);
  // Frees the context (the state of the body) of a task that has ended.
  void free_context(TaskRun& run);

  // Returns the approximate memory of the contexts of all unfinished tasks, in bytes.
  std::int64_t bytes() const { return bytes_; }

 private:
  bool enter(LaunchingTask& context, const app::Statement& statement);
  bool enter_loop(LaunchingTask& context, const app::Loop& loop);
  bool leave_body(LaunchingTask& context);
  static bool launched_tasks_are_over(LaunchingTask& context);
  bool waits_for_window(LaunchingTask& context) const;
  bool conflicts_with_earlier(const LaunchingTask& context, const app::Launch& launch) const;
  void report_if_mapped(LaunchingTask& context, LastAwaitedEvent since);

  const RunInput& input_;
  const OpGraph& ops_;
  Launcher& launcher_;
  LoopReplay& replay_;
  SteadyLoop& steady_;
  Outcome& outcome_;
  Agenda& agenda_;
  RecordWriter& record_;
  RunCounts& counts_;
  const std::int64_t max_iterations_;
  const RunTime future_time_;
  // The number of unfinished tasks that launch other tasks.
  std::int64_t open_ = 0;
  std::int64_t bytes_ = 0;
  // True if the task that catches up has to go on with its next statement.
  bool goes_on_ = false;
};

}  // namespace groma::sim
