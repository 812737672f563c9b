// TaskPool: the memory of the tasks of a run. An ended task's object is used again.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "simulate/bytes.h"
#include "simulate/task_run.h"

namespace groma::sim {

class TaskPool {
 public:
  // The least memory of a task that waits, in bytes.
  static constexpr std::int64_t kLeastBytes = sizeof(TaskRun) + 32;

  // Returns a cleared object for a task, which lives from now on. Valid until remove().
  TaskRun& add() {
    ++live_;
    if (free_.empty()) return runs_.emplace_back();
    TaskRun& run = *free_.back();
    free_.pop_back();
    run.clear();
    return run;
  }
  void remove(TaskRun& run) {
    --live_;
    free_.push_back(&run);
  }
  // Returns the number of unfinished tasks.
  std::int64_t live() const { return live_; }

  // Returns the heap memory of a task's vectors.
  static std::int64_t heap_bytes_of(const TaskRun& run) {
    return heap_bytes(run.arguments) + heap_bytes(run.pieces) + heap_bytes(run.instances);
  }
  // Counts heap memory that a task took.
  void count_heap(std::int64_t bytes) { heap_bytes_ += bytes; }
  // Returns the memory of all tasks, approximately.
  std::int64_t bytes() const {
    return static_cast<std::int64_t>(runs_.size() * sizeof(TaskRun)) + heap_bytes_;
  }

 private:
  std::deque<TaskRun> runs_;
  std::vector<TaskRun*> free_;
  std::int64_t live_ = 0;
  std::int64_t heap_bytes_ = 0;  // memory of the vectors in runs_
};

}  // namespace groma::sim
