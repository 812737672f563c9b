// Station: the tasks of one processor of a run.
#pragma once

#include <cstdint>
#include <queue>
#include <vector>

#include "simulate/task_run.h"

namespace groma::sim {

struct Station {
  struct Waiting {
    int priority;
    std::uint64_t order;
    TaskRun* run;
    bool operator<(const Waiting& other) const {
      return priority != other.priority ? priority < other.priority : order > other.order;
    }
  };
  std::priority_queue<Waiting> ready;  // ready to run
  TaskRun* running = nullptr;
  std::int64_t load = 0;           // tasks that are mapped to it and not finished
  std::vector<TaskRun*> unmapped;  // tasks that its mapper has not selected yet
  std::int64_t last_record = -1;   // record of the last task that started

  bool idle() const { return load == 0 && unmapped.empty(); }
};

}  // namespace groma::sim
