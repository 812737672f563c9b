// Bodies: runs the bodies of tasks that launch tasks, statement by statement, in simulated time.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "app/data.h"
#include "simulate/agenda.h"
#include "simulate/launcher.h"
#include "simulate/loop_replay.h"
#include "simulate/ops.h"
#include "simulate/outcome.h"
#include "simulate/record_writer.h"
#include "simulate/run_input.h"
#include "simulate/task_run.h"

namespace groma::sim {

// Limit on unfinished tasks that launch; it bounds their memory.
inline constexpr std::int64_t kMaxContexts = std::int64_t{1} << 18;

class Bodies {
 public:
  // Refers to all arguments, so they must outlive it. `max_iterations` limits the outermost loops
  // of the top-level task.
  Bodies(const RunInput& input, const Ops& ops, Launcher& launcher, LoopReplay& replay,
         Outcome& outcome, Agenda& agenda, RecordWriter& record, std::int64_t max_iterations);

  // Issues a launch. Its task then waits until wake() is called.
  std::function<void(Context&, const app::Launch&)> on_launch;
  // Called when a task has ended with everything that it launched.
  std::function<void(TaskRun&)> on_end;

  // Starts the body of a task that launches. Its first statement runs at the present time.
  void begin(TaskRun& run);
  // Runs statements of a body until one has to wait, a launch is issued, or the body ends.
  void step(Context& context);
  // Lets a task that waits go on with its body at `time`.
  void wake(Context& context, RunTime time);
  // Notes that a task, and everything that it launches, is mapped. A launch of the parent that
  // waits for this goes on. `since` is the event that allowed it.
  void note_mapped(const TaskRun& run, Since since);
  // Ends the task if its body, its own run and all launched tasks are over.
  void check_end(Context& context);
  // Frees the context of a task that has ended.
  void close(TaskRun& run);

  // Returns the time that was spent in a phase.
  RunTime phase_time(int phase) const { return phase_time_[static_cast<std::size_t>(phase)]; }
  // Returns the memory of the contexts, approximately.
  std::int64_t bytes() const { return bytes_; }

 private:
  bool enter(Context& context, const app::Statement& statement);
  bool enter_loop(Context& context, const app::Loop& loop);
  bool leave(Context& context);
  static bool all_over(Context& context);
  bool conflicts(const Context& context, const app::Launch& launch) const;
  void tell_if_mapped(Context& context, Since since);

  const RunInput& input_;
  const Ops& ops_;
  Launcher& launcher_;
  LoopReplay& replay_;
  Outcome& outcome_;
  Agenda& agenda_;
  RecordWriter& record_;
  const std::int64_t max_iterations_;
  std::uint64_t statements_ = 0;  // that were run
  std::int64_t open_ = 0;         // unfinished tasks that launch
  std::int64_t bytes_ = 0;
  std::vector<RunTime> phase_time_;
};

}  // namespace groma::sim
