// Copies: the copies of a run, from the mapping of the task that needs them to their end.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "groma/run_record.h"
#include "simulate/task_run.h"
#include "simulate/valid_data.h"

namespace groma::sim {

// A copy. Once the copy is known to wait, `cause` is the record of the event that it waited for
// last.
struct CopyRun {
  Fetch fetch;
  std::int32_t name = -1;  // the task that needs the copy
  RunTime mapped = 0, ready = 0, start = 0;
  std::int64_t cause = -1, record = -1;
  Since since;
};

// Gives copies numbers, which are used again after their end.
class Copies {
 public:
  // Adds a copy for the task, which is mapped. Returns the number of the copy.
  std::uint32_t add(const Fetch& fetch, const TaskRun& run, RunTime mapped);
  CopyRun& operator[](std::uint32_t copy) { return copies_[copy]; }
  // Forgets a copy that has ended.
  void remove(std::uint32_t copy) { free_.push_back(copy); }
  // Returns the memory of the copies and of the schedules of their links, approximately.
  std::int64_t bytes() const;

 private:
  std::deque<CopyRun> copies_;
  std::vector<std::uint32_t> free_;
};

}  // namespace groma::sim
