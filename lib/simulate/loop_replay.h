// LoopReplay: maps the iterations of a loop without looking at data again. If two iterations leave
// the same state behind, all later iterations do exactly the same. Their tasks then take the same
// instances, need the same copies, and wait for the same tasks of the iteration before.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "simulate/run_parts.h"
#include "simulate/task_run.h"
#include "simulate/valid_data.h"

namespace groma::sim {

// Watches the outermost loop of the top-level task. It compares the states at the beginnings of the
// first iterations, where ops count relative to the iteration. If two states are equal, it repeats
// the iteration between them, task by task, as long as each task is held on the same processor as
// then. The first task that is not is mapped as usual, and so are all that follow.
//
// A loop is watched only if its launches cannot differ between iterations: no domain and no colour
// depends on its variable, and no launched task launches others. An iteration is repeated only if
// it was mapped without asking a mapper and without making or removing an instance.
class LoopReplay {
 public:
  // `parts` must outlive it. It takes about `max_bytes` of memory at most.
  LoopReplay(RunParts& parts, std::int64_t max_bytes) : parts_(parts), max_bytes_(max_bytes) {}

  // Notes that a loop of so many iterations begins, if it is not inside another one.
  void begin_loop(const Context& context, const app::Loop& loop, std::int64_t count);
  // Notes that another iteration of that loop begins, after the first one.
  void begin_iteration(const Context& context, const app::Loop& loop);
  // Notes that the loop is over.
  void end_loop(const Context& context, const app::Loop& loop);

  // Returns true if the present iteration repeats an earlier one. Then all its tasks have the same
  // pieces.
  bool repeats() const { return state_ == State::kRepeating; }
  // Returns true if the task is mapped by repeat_mapping(). If the task differs, nothing is
  // repeated from now on. A task without data is mapped as usual: nothing else depends on how.
  bool keeps_repeating(const TaskRun& run);
  // Takes the instances of the task, adds its copies to `fetches`, and makes all of them wait. The
  // processor where it runs must be set. Returns false if the run is over.
  bool repeat_mapping(TaskRun& run, std::vector<Fetch>& fetches);

  // Notes that a task was mapped as its plan says.
  void note_mapped(const TaskRun& run, std::span<const Fetch> fetches);
  // Notes that a task was mapped as its mapper said. If the task has data, the present iteration is
  // not repeated.
  void note_asked(const TaskRun& run) {
    is_steady_ = is_steady_ && run.pieces.empty();
    log_.clear();
  }
  // Watches the present loop no more, unless it repeats already.
  void give_up() {
    if (state_ == State::kWatching) stop();
  }

  // Returns its memory, approximately.
  std::int64_t bytes() const;

 private:
  enum class State : std::uint8_t { kIdle, kWatching, kRepeating };
  // One op waits for another.
  struct Edge {
    std::uint32_t waiter : 31;      // 0: the task; i: its copy number i
    std::uint32_t is_absolute : 1;  // `on` is an op from before the loop was steady
    std::uint32_t on;               // otherwise relative to the iteration, modulo 2^32
  };
  struct TakenInstance {
    InstanceNumber number;
    CollectPriority priority;
  };
  // How one task of the iteration was mapped: its plan, and the ends of its parts of the lists
  // below.
  struct MappedTask {
    const TaskPlan* plan = nullptr;
    std::size_t instances = 0, fetches = 0, edges = 0, ranked = 0;
  };
  // A task of the present iteration that was mapped by repeat_mapping().
  struct RepeatedTask {
    const app::Launch* launch;
    Op op, copies;  // its own op, and that of its first copy
  };

  bool does_the_same(const app::Body& body, int slot);
  bool does_the_same(const app::Launch& launch, int slot);
  bool is_about(const Context& context, const app::Loop& loop) const {
    return state_ != State::kIdle && context_ == &context && loop_ == &loop;
  }
  void stop();
  void start_recording(StateHash hash, Op here);
  bool can_repeat(const Context& context) const;
  void add_edges(const TaskRun& run, std::span<const Fetch> fetches);
  MappedTask before(std::size_t task) const { return task == 0 ? MappedTask{} : tasks_[task - 1]; }
  void leave();
  void use_again(std::size_t number);

  RunParts& parts_;
  const std::int64_t max_bytes_;
  State state_ = State::kIdle;
  const Context* context_ = nullptr;  // the task that runs the loop
  const app::Loop* loop_ = nullptr;
  std::vector<std::uint32_t> regions_;  // that the loop uses
  int iterations_ = 0;                  // that were watched
  Op before_ = kBeginning;              // the first op of the iteration before the recorded one
  Op since_ = kBeginning;               // the first op of the recorded iteration
  Op ops_ = 0;                          // number of ops of an iteration
  StateHash hash_;                      // the state before the recorded iteration
  bool is_steady_ = false;              // no mapper was asked in it
  std::int64_t store_changes_ = 0, mapper_changes_ = 0;  // at its beginning

  // The recorded iteration.
  std::vector<MappedTask> tasks_;
  std::vector<TakenInstance> instances_;
  std::vector<Fetch> fetches_;  // without ops
  std::vector<Edge> edges_;
  std::vector<InstanceNumber> ranked_;  // ValidData::Log
  ValidData::Log log_;                  // of the task that is mapped

  // The repetition: the first op of the present iteration, its tasks so far, and the number of
  // iterations that were repeated before it.
  Op here_ = kBeginning;
  std::vector<RepeatedTask> repeated_;
  std::int64_t times_ = 0;
};

}  // namespace groma::sim
