// LoopReplay: maps the iterations of a loop without analysing their data again. If the state is the
// same after two iterations, all later iterations do exactly the same. Their tasks then take the
// same instances, need the same copies, and wait for the same tasks of the iteration before.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "simulate/run_parts.h"
#include "simulate/task_run.h"
#include "simulate/valid_data.h"

namespace groma::sim {

// Watches the outermost loop of the top-level task. It compares the states of the data at the
// beginnings of the first iterations, where ops are numbered relative to the iteration. If two
// states are equal, it repeats the iteration between them, task by task, as long as each task is
// held on the same processor as in that iteration. The first task that is held elsewhere is mapped
// as usual, and so are all later tasks.
//
// A loop is watched only if its launches cannot differ between iterations: no domain and no colour
// depends on the variable of the loop, and no launched task launches others. An iteration is
// repeated only if it was mapped without asking a mapper and without making or removing an
// instance.
class LoopReplay {
 public:
  // `parts` must outlive the object. The object takes at most about `max_bytes` of memory.
  LoopReplay(RunParts& parts, std::int64_t max_bytes) : parts_(parts), max_bytes_(max_bytes) {}

  // Notes that a loop of `count` iterations begins. Does nothing inside a loop that is watched
  // already.
  void begin_loop(const LaunchingTask& context, const app::Loop& loop, std::int64_t count);
  // Notes that the second or a later iteration of the loop begins. Not called for the first
  // iteration, since begin_loop() is called then.
  void begin_iteration(const LaunchingTask& context, const app::Loop& loop);
  // Notes that the loop is over.
  void end_loop(const LaunchingTask& context, const app::Loop& loop);

  // Returns true if the present iteration repeats an earlier one. Then all its tasks have the same
  // pieces.
  bool repeats() const { return state_ == State::kRepeating; }
  // Returns true if every op of the repeated iteration waits for another op of that iteration or of
  // the one before, and each of its tasks can run on one processor only. Then no op of an iteration
  // becomes ready before an op of the iteration before is done, and nothing depends on the moment
  // at which its tasks are mapped, as long as that moment is early enough.
  bool is_chained() const;
  // Returns whether an argument of a launch in the loop depends on the variable of the loop.
  bool arguments_vary() const { return arguments_vary_; }
  // The number of the first op of the recorded iteration, and that of the present iteration.
  Op recorded() const { return since_; }
  Op here() const { return here_; }
  // The number of ops that one iteration adds.
  Op ops() const { return ops_; }
  // Returns true if the task can be mapped by repeat_mapping(). If the task differs from the one at
  // the same place in the recorded iteration, returns false and ends the repetition. A task without
  // data is never mapped in this way, since no other task depends on how it is mapped; for it, the
  // function returns false and the repetition goes on.
  bool continue_repetition_with(const TaskRun& run);
  // Maps the task as in the recorded iteration: takes the same instances, adds its copies to
  // `fetches`, and makes the task and the copies wait for the same ops. The processor of the task
  // must be set. Returns false if the run is over.
  bool repeat_mapping(TaskRun& run, std::vector<NeededCopy>& fetches);

  // Notes that a task was mapped as its plan says.
  void note_mapped(const TaskRun& run, std::span<const NeededCopy> fetches);
  // Notes that a task was mapped by asking its mapper. If the task has data, the present iteration
  // is not repeated.
  void note_mapped_by_mapper(const TaskRun& run) {
    is_steady_ = is_steady_ && run.pieces.empty();
    log_.clear();
  }
  // Stops watching the present loop, unless its iterations are repeated already.
  void stop_watching() {
    if (state_ == State::kWatching) stop();
  }

  // Returns the approximate memory of the object in bytes.
  std::int64_t bytes() const;

 private:
  enum class State : std::uint8_t { kIdle, kWatching, kRepeating };
  // A dependence in the recorded iteration: one op (of a task or of one of its copies) waits for
  // another op.
  struct Edge {
    // The op that waits. 0: the op of the task; i > 0: the op of copy number i of the task, counted
    // from 1.
    std::uint32_t waiter : 31;
    // 1 if the awaited op is older than the iteration before the recorded one. `on` is then its
    // number in the whole run.
    std::uint32_t is_absolute : 1;
    // The number of the op that is waited for. If `is_absolute` is 0, the number is relative to the
    // first op of the recorded iteration (modulo 2^32, since the op may lie before it).
    std::uint32_t on;
  };
  struct TakenInstance {
    InstanceNumber number;
    CollectPriority priority;
  };
  // How one task of the recorded iteration was mapped: by which plan. The other members say up to
  // where the lists `instances_`, `fetches_`, `edges_` and `ranked_` belong to this task and the
  // tasks before it.
  struct MappedTask {
    const CachedTaskMapping* plan = nullptr;
    std::size_t instances = 0, fetches = 0, edges = 0, ranked = 0;
  };
  // A task of the present iteration that was mapped by repeat_mapping().
  struct RepeatedTask {
    const app::Launch* launch;
    // The number of the op of the task, and the number of the op of its first copy.
    Op op, copies;
  };

  bool is_same_each_iteration(const app::Body& body, int slot);
  bool is_same_each_iteration(const app::Launch& launch, int slot);
  bool is_watched_loop(const LaunchingTask& context, const app::Loop& loop) const {
    return state_ != State::kIdle && context_ == &context && loop_ == &loop;
  }
  void stop();
  void start_recording(StateHash hash, Op here);
  bool can_repeat(const LaunchingTask& context) const;
  void add_edges(const TaskRun& run, std::span<const NeededCopy> fetches);
  // Returns the task before number `task` in the recorded iteration. Before task 0: an empty one.
  MappedTask task_before(std::size_t task) const {
    return task == 0 ? MappedTask{} : tasks_[task - 1];
  }
  void end_repetition();
  void reapply_task_uses(std::size_t number);

  RunParts& parts_;
  const std::int64_t max_bytes_;
  State state_ = State::kIdle;
  // The context of the task whose body has the watched loop.
  const LaunchingTask* context_ = nullptr;
  const app::Loop* loop_ = nullptr;
  // The regions that the tasks of the loop use.
  std::vector<std::uint32_t> regions_;
  bool arguments_vary_ = false;
  // The number of iterations that were watched so far.
  int iterations_ = 0;
  // The number of the first op of the iteration before the recorded iteration.
  Op before_ = kBeginning;
  // The number of the first op of the recorded iteration.
  Op since_ = kBeginning;
  // The number of ops that one iteration adds.
  Op ops_ = 0;
  // The hash of the state of the data at the beginning of the recorded iteration.
  StateHash hash_;
  // False if the recorded iteration cannot be repeated, for example because a mapper was asked in
  // it.
  bool is_steady_ = false;
  // The values of InstanceStore::changes() and MapperInstances::changes() at the beginning of the
  // recorded iteration.
  std::int64_t store_changes_ = 0, mapper_changes_ = 0;

  // The recorded iteration.
  std::vector<MappedTask> tasks_;
  std::vector<TakenInstance> instances_;
  // The copies that the tasks of the recorded iteration needed. When they are repeated, each copy
  // gets a new op.
  std::vector<NeededCopy> fetches_;
  std::vector<Edge> edges_;
  // The sources of copies in the order in which mappers ranked them (ValidData::Log::ranked).
  std::vector<InstanceNumber> ranked_;
  // What ValidData logs about the task that is being mapped.
  ValidData::Log log_;

  // The state of the repetition: the number of the first op of the present iteration, the tasks of
  // the present iteration that were mapped so far, and the number of complete iterations that were
  // repeated before it.
  Op here_ = kBeginning;
  std::vector<RepeatedTask> repeated_;
  std::int64_t times_ = 0;
};

}  // namespace groma::sim
