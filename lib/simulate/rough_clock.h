// RoughClock: estimates the time of a run from its rehearsal. It goes through the tasks once, in
// the order of the program, and lets each begin as soon as what it waits for allows.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "groma/app.h"
#include "groma/simulate.h"
#include "simulate/links.h"
#include "simulate/run_parts.h"
#include "simulate/task_durations.h"
#include "simulate/task_run.h"

namespace groma::sim {

// The estimate differs from the time of a run in these points: earlier tasks and copies of the
// program are placed first on processors and links, and later ones fill the gaps that are left.
// Limits on the tasks in flight, task priorities and work stealing are ignored. Times are
// picoseconds from the beginning of the run.
class RoughClock {
 public:
  // The state of a task that launches other tasks.
  struct LaunchingBody {
    // The time at which the task issues its next statement.
    RunTime now = 0;
    // The latest end of the tasks that it has launched, and of those that the present iteration of
    // the innermost loop has launched.
    RunTime last_end = 0, iteration_end = 0;
    // The number of traced loops around the present statement whose first iteration is over.
    int replaying = 0;
    // For each future of the task: the time at which it is complete.
    std::vector<RunTime> futures;
    // When the futures that the present launch takes are complete.
    RunTime futures_complete = 0;
    // The latest times at which a task of the present launch is mapped and ends.
    RunTime launch_mapped = 0, launch_end = 0;
    bool is_top_level = false;
  };
  // A point of the program: the time at which it is reached, and the time of the measured phase
  // until then. Both are in seconds.
  struct Mark {
    double reached = 0, measured = 0;
  };

  // The object keeps references to `parts` and `links`, so they must outlive it. It reserves links
  // for the copies, so `links` must have no other user who does. From now on `parts.valid_data`
  // logs the uses of data.
  RoughClock(RunParts& parts, Links& links, const RuntimeCosts& costs, const TimeModel& model);

  // Adds a mapped task and the copies that it needs. It may run on any of the processors, which
  // have one kind and use the same memories; it runs on the first that is free. `body` is that of
  // the launching task; null for the top-level task.
  void add_task(TaskRun& run, LaunchingBody* body, std::span<const Processor> processors,
                std::span<const NeededCopy> copies);

  // Begins the body of a task that was added. The body begins when the task begins.
  LaunchingBody begin_body(const TaskRun& run) const;
  // Ends a body. The task is over when the tasks that it launched are over. `outer` is the body of
  // the task that launched it; null for the top-level task.
  void end_body(const TaskRun& run, const LaunchingBody& body, LaunchingBody* outer);
  // Begin and end a launch in a body. Between the two calls its tasks are added.
  void begin_launch(LaunchingBody& body, const app::Launch& launch);
  void end_launch(LaunchingBody& body, const app::Launch& launch);
  // Let the task of a body wait for all its tasks, or for one of its futures.
  void wait_for_all(LaunchingBody& body) const;
  void wait_for_future(LaunchingBody& body, int future) const;

  // Returns the point at which all tasks of the body are over.
  Mark mark(const LaunchingBody& body) const;
  // Returns the point at which the tasks of the present iteration of a loop are over.
  Mark mark_of_iteration(const LaunchingBody& body) const;
  // Adds the time of `times` more iterations of a loop. `before` and `last` are the ends of the
  // last two iterations.
  void repeat_iteration(LaunchingBody& body, const Mark& before, const Mark& last,
                        std::int64_t times);
  // Adds the time since `begin` to the time of the measured phase.
  void end_measured_phase(const LaunchingBody& body, const Mark& begin);

  // Returns the time of the measured phase in seconds; if the application has none, that of the
  // whole run. Returns nullopt if the run takes longer than kLongest.
  std::optional<double> measured_seconds() const;

 private:
  // The time in which one task uses the bandwidth of a memory.
  struct BandwidthUse {
    RunTime begin = 0, end = 0;
  };

  void note_ready_times();
  void forget_ready_times();
  RunTime ready_time(Op op) const { return op < ready_.size() ? ready_[op] : 0; }
  RunTime add_copy(const NeededCopy& copy, RunTime mapped);
  RunTime task_duration(TaskRun& run, RunTime begin);
  void note_bandwidth_use(const BandwidthUse& use);
  LinkSchedule* first_free(std::span<const Processor> processors, RunTime ready, RunTime duration,
                           RunTime& start);

  RunParts& parts_;
  Links& links_;
  const RuntimeCosts costs_;
  TaskDurations durations_;
  ValidData::Log log_;
  // For each op: its end, and the beginning of a task.
  std::vector<RunTime> ends_, begins_;
  // For each op of the task that is being added: when the data is ready for which the op waits.
  std::vector<RunTime> ready_;
  // The busy times of the processors, by their number.
  std::vector<LinkSchedule> processors_;
  // For each node: the time from which its runtime can map the next task.
  std::vector<RunTime> runtime_free_;
  // For each memory: the last kMaxUses uses of its bandwidth, and how many there were.
  struct BandwidthUses {
    std::vector<BandwidthUse> last;
    std::size_t count = 0;
  };
  static constexpr std::size_t kMaxUses = 128;
  std::vector<BandwidthUses> uses_;
  // The memories whose bandwidth the task that is being added uses.
  std::vector<std::int32_t> used_;
  // The time of the iterations of the top-level task's loops that were not examined, in seconds.
  double skipped_ = 0;
  // The time of the measured phase so far, in seconds.
  double measured_ = 0;
  // The end of the last task.
  RunTime end_ = 0;
};

}  // namespace groma::sim
