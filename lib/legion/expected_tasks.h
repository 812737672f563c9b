// ExpectedTasks: counts the launched tasks that no mapper has mapped yet. Those that are left when
// the run ends did not run, because their predicates were false.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>

#include "legion/task_runs.h"
#include "recording/events.h"

namespace groma::legion {

// Thread-safe.
class ExpectedTasks {
 public:
  // Notes that this many tasks of a launch will be mapped unless their predicate is false.
  void add(const LaunchKey& launch, std::int64_t tasks);
  // Notes that one task of the launch is mapped.
  void mapped(const LaunchKey& launch);
  // Notes that the run has traces. No mapper maps the tasks that a trace replays, so nobody can
  // tell any more which tasks did not run. From now on, no task is expected.
  void may_replay();
  // Adds the number of tasks that were expected and not mapped to `events`.
  void add_to(app::Events& events) const;

 private:
  mutable std::mutex mutex_;
  // The number of tasks of each launch that are not mapped yet.
  std::map<LaunchKey, std::int64_t> tasks_;
  bool may_replay_ = false;
};

}  // namespace groma::legion
