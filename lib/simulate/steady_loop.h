// SteadyLoop: skips the iterations of a loop that repeat the iterations before them exactly, only
// later.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "simulate/agenda.h"
#include "simulate/bytes.h"
#include "simulate/copies.h"
#include "simulate/drift.h"
#include "simulate/hash.h"
#include "simulate/loop_replay.h"
#include "simulate/op_subjects.h"
#include "simulate/run_counts.h"
#include "simulate/run_parts.h"
#include "simulate/stations.h"
#include "simulate/task_pool.h"
#include "simulate/task_run.h"

namespace groma::sim {

// Watches the loop whose iterations LoopReplay repeats, and does two things.
//
// 1. It skips iterations. At the beginning of an iteration it takes the state of the run: which ops
//    are done, what runs and waits where, and when the events to come happen, all relative to the
//    number of the iteration's first op and to the present time. If the state is the same as p
//    iterations before, the run goes on as it did since then. So it can skip any multiple of p
//    iterations: it adds what they would have counted, and moves the time. If the state differs
//    only in the times of the events to come, and each of them was later by as much as the time
//    before, it extrapolates these times (simulate/drift.h). select_task_options is asked for the
//    launches that are skipped, too, since that hook may answer differently each time. Only
//    iterations with the same answers are skipped.
// 2. It holds the launching task back. Launching is often faster than running, so the launching
// task
//    gets more and more iterations ahead, and the states of two iterations differ in that. But if
//    every op of an iteration waits for an op of the iteration before (LoopReplay::is_chained), it
//    does not matter when the iteration is launched, as long as that is early enough. The launching
//    task then executes an iteration only when an op of the iteration before becomes ready, and
//    keeps a time of its own (LaunchingTask::now). If that time is not before the time of the run,
//    launching is not faster than running, and the task goes on as usual. The task is held back
//    only if the answers of select_task_options for the rest of the loop, which are asked before,
//    are the same in all iterations.
//
// Neither changes when anything happens in a run that succeeds. They do nothing if a record is
// wanted, since a record has every event, or if a task is profiled. Nothing is skipped in a run
// with noise.
class SteadyLoop {
 public:
  // The objects of a run that a SteadyLoop works on. They must outlive it.
  struct RunServices {
    RunParts& parts;
    Agenda& agenda;
    const OpSubjects& uses;
    ProcessorStates& stations;
    Copies& copies;
    TaskPool& tasks;
    const LoopReplay& replay;
    RunCounts& counts;
    // For each node: the time at which its runtime processor becomes free.
    std::vector<RunTime>& utility;
    // The time from the moment at which a full window has room until the task goes on.
    RunTime future_time;
    // The largest number of tasks that the run may launch.
    std::int64_t max_tasks;
    // True if a record is wanted; true if the durations vary at random.
    bool has_record, has_noise;
  };
  explicit SteadyLoop(const RunServices& run) : run_(run) {}

  // Called when an iteration of a loop begins, after LoopReplay::begin_iteration(). May skip
  // iterations. Returns true if the launching task is held back. It then has to wait until
  // task_to_resume() returns it.
  bool begin_iteration(LaunchingTask& context);
  // Returns the task that was held back if it has to go on now, else null. May skip iterations
  // before. `is_last_chance` is true if nothing else happens in the run any more.
  LaunchingTask* task_to_resume(bool is_last_chance) {
    return held_ == nullptr || (is_early_enough() && !is_last_chance) ? nullptr : resume();
  }
  // Returns the answer of select_task_options for the next launch if it is known already, else
  // null.
  const TaskOptions* known_options() {
    const bool has_next = is_known_ && next_known_ < options_before_.size();
    return has_next ? &options_before_[next_known_++] : nullptr;
  }

  // Note what happens in the run: an op has become ready, an event happens, a launch has got this
  // answer of select_task_options, so many launches have left the window of their task, a loop is
  // over, a task is profiled.
  void note_ready(Op op) { newest_ready_ = std::max(newest_ready_, op); }
  void note_event(const Event& event) {
    if (loop_ != nullptr && was_held_) log_event(event);
  }
  void note_start(const app::Launch& launch, const TaskOptions& options);
  void note_left(int launches);
  void end_loop(const app::Loop& loop);
  void forbid();
  // Note what a task does that catches up after it was held back: it looks whether its window has
  // room, or it has launched and goes on after `time`.
  void note_window_check() { launching_.push_back({LaunchingStep::Kind::kCheck, 0}); }
  void note_launch_time(RunTime time) { launching_.push_back({LaunchingStep::Kind::kGoOn, time}); }

  // Returns the approximate memory of the object in bytes.
  std::int64_t bytes() const {
    return static_cast<std::int64_t>((seen_.size() + 2 * alike_.size()) * sizeof(Moment)) +
           coming_bytes_ + heap_bytes(answers_) + heap_bytes(events_) + heap_bytes(launching_);
  }

 private:
  // The beginning of an iteration, and what the run had counted until then.
  struct Moment {
    std::int64_t iteration = -1;
    RunTime now = 0, launching_now = 0;
    RunCounts counts;
    std::int64_t tasks = 0, copies = 0, moved_bytes = 0;
    // The lengths of `answers_`, `events_` and `launching_`.
    std::size_t answers = 0, events = 0, launching = 0;
    // Copies::started_among_gaps().
    std::int64_t among_gaps = 0;
    // The times of the events to come, in their order. Empty in `seen_`.
    std::vector<RunTime> coming;
  };
  // What the launching task does, and what it depends on. kLaunch: a launch enters the window.
  // kLeave: a launch leaves the window at `time`. kResume: the task was held back, and goes on at
  // `time`.
  struct LaunchingStep {
    enum class Kind : std::uint8_t { kCheck, kLaunch, kGoOn, kLeave, kResume } kind;
    RunTime time;
  };
  // The last two moments with the same state apart from times, the older one first.
  struct AlikeMoments {
    Moment before, last;
  };
  struct HashOfState {
    std::size_t operator()(const StateHash& hash) const { return hash.first; }
  };

  void begin_loop(const LaunchingTask& context);
  bool knows_all_answers(LaunchingTask& context);
  // Returns whether no op of the iteration before is ready yet.
  bool is_early_enough() const { return newest_ready_ < run_.replay.here() - run_.replay.ops(); }
  LaunchingTask* resume();
  void log_event(const Event& event);

  void look(LaunchingTask& context, bool is_held);
  Moment present(const LaunchingTask& context) const;
  void forget();
  Op op_of(const Event& event) const;
  std::uint64_t relative(Op op) const;
  bool add_state(const LaunchingTask& context, std::span<const Event> coming,
                 StateHash& hash) const;
  bool add_ops(StateHash& hash) const;
  void add_waiting_tasks(StateHash& hash) const;
  void add_times(std::span<const Event> coming, StateHash& hash) const;

  bool skip_drifting(LaunchingTask& context, const AlikeMoments& earlier, const Moment& here,
                     std::span<const Event> coming);
  bool skip(LaunchingTask& context, const Moment& first, const Moment& here,
            std::vector<Event> coming, std::span<const RunTime> later, std::int64_t most,
            const Moment* before = nullptr);
  std::int64_t launch_ahead(LaunchWindow& window, RunTime& launching_now, const Moment& first,
                            const Moment& here, const Moment* before, std::int64_t most) const;
  std::int64_t periods_with_same_answers(LaunchingTask& context, const Moment& first,
                                         const Moment& here, std::int64_t most);
  std::int64_t iterations_with_answers(LaunchingTask& context,
                                       std::span<const std::uint64_t> answers, std::int64_t period,
                                       std::int64_t most);
  bool has_same_answers(LaunchingTask& context, const app::Body& body,
                        std::span<const std::uint64_t>& answers);
  void repeat_counts(const Moment& first, const Moment& here, std::int64_t periods);

  const RunServices run_;
  // The loop that is watched. Null: none.
  const app::Loop* loop_ = nullptr;
  // What the loop permits, and whether a task of the run was profiled.
  bool may_skip_ = false, may_hold_ = false, has_profiling_ = false;
  // The task that is held back.
  LaunchingTask* held_ = nullptr;
  // The largest number of an op that has become ready.
  Op newest_ready_ = kBeginning;

  // What was seen while the launching task was held back, or while it was not (`was_held_`): the
  // moments by their states, with and without the times of the events to come, and the events. The
  // states without times and the events are kept only while the task is held back.
  std::unordered_map<StateHash, Moment, HashOfState> seen_;
  std::unordered_map<StateHash, AlikeMoments, HashOfState> alike_;
  std::vector<EndedOp> events_;
  std::vector<LaunchingStep> launching_;
  bool was_held_ = false;
  // The memory of Moment::coming in `alike_`.
  std::int64_t coming_bytes_ = 0;
  // A hash of the answer of select_task_options for each launch since the loop is watched, and the
  // number of these answers at the beginnings of the present iteration and of the one before.
  std::vector<std::uint64_t> answers_;
  std::size_t answers_here_ = 0, answers_before_ = 0;
  // The answers of the present iteration and of the one before.
  std::vector<TaskOptions> options_here_, options_before_;
  // If the answers for the rest of the loop were asked before: for how many iterations after the
  // present one they are those in `options_before_`, and whether those of the present one are.
  bool has_asked_ = false, is_known_ = false;
  std::int64_t known_iterations_ = 0;
  // The next one of `options_before_` in the present iteration.
  std::size_t next_known_ = 0;
  // The ops that it may still look at.
  std::int64_t credit_ = 0;
};

}  // namespace groma::sim
