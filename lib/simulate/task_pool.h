// TaskPool: the memory of the tasks and launches of a run. The object of an ended task or launch is
// used again.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "simulate/task_run.h"

namespace groma::sim {

class TaskPool {
 public:
  // The least memory that an unfinished task takes, in bytes.
  static constexpr std::int64_t kLeastBytes = sizeof(TaskRun) + 32;

  // Returns a cleared object for a new task, which counts as unfinished from now on. The reference
  // is valid until remove().
  TaskRun& add() {
    ++live_;
    if (free_.empty()) return runs_.emplace_back();
    TaskRun& run = *free_.back();
    free_.pop_back();
    run.clear();
    return run;
  }
  // Removes a task that has ended. Also removes its launch if no other task of the launch is left.
  void remove(TaskRun& run) {
    --live_;
    free_.push_back(&run);
    if (run.of != nullptr && --run.of->unfinished == 0) free_launches_.push_back(run.of);
  }
  // Returns a copy of `launch` in the pool. The reference is valid until all tasks of the launch
  // are removed.
  LaunchRun& add_launch(const LaunchRun& launch) {
    if (free_launches_.empty()) return launches_.emplace_back(launch);
    LaunchRun& place = *free_launches_.back();
    free_launches_.pop_back();
    return place = launch;
  }
  // Moves the times of all tasks by `time`, except those of `other`.
  void move(RunTime time, const TaskRun& other) {
    for (TaskRun& run : runs_) {
      if (&run == &other) continue;
      for (RunTime* each :
           {&run.times.mapping, &run.times.mapped, &run.times.ready, &run.times.start})
        *each += time;
    }
  }
  // Returns the number of unfinished tasks.
  std::int64_t live() const { return live_; }

  // Returns the memory of all tasks and launches in bytes, without that of the lists of tasks.
  std::int64_t bytes() const {
    return static_cast<std::int64_t>(runs_.size() * sizeof(TaskRun) +
                                     launches_.size() * sizeof(LaunchRun));
  }

 private:
  std::deque<TaskRun> runs_;
  std::vector<TaskRun*> free_;
  std::deque<LaunchRun> launches_;
  std::vector<LaunchRun*> free_launches_;
  std::int64_t live_ = 0;
};

}  // namespace groma::sim
