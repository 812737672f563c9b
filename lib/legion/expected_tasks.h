// ExpectedTasks: counts the launched tasks that no mapper has mapped yet. Tasks that are still
// unmapped when the run ends did not run, because their predicates were false.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>

#include "legion/task_runs.h"
#include "recording/events.h"

namespace groma::legion {

// Counts the launched tasks that are not mapped yet. Thread-safe.
class ExpectedTasks {
 public:
  // Notes that a launch has this many tasks, which will be mapped unless their predicate is false.
  void add(const LaunchKey& launch, std::int64_t tasks);
  // Notes that one task of the launch has been mapped.
  void task_mapped(const LaunchKey& launch);
  // Notes that the program uses traces. No mapper maps the tasks that a trace replays, so nobody
  // can tell any more which tasks did not run. From now on, no task is expected.
  void disable_for_traces();
  // Adds to `events` the number of tasks that were launched and not mapped.
  void add_to(app::Events& events) const;

 private:
  mutable std::mutex mutex_;
  // For each launch, the number of its tasks that are not mapped yet.
  std::map<LaunchKey, std::int64_t> tasks_;
  bool may_replay_ = false;
};

}  // namespace groma::legion
