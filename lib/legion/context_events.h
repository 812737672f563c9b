// ContextEvents: the runs of tasks that launch something, each with the regions that it got, so
// that its launches can be described relative to them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "legion/launch_events.h"
#include "legion/region_events.h"
#include "legion/task_runs.h"
#include "recording/events.h"

namespace groma::legion {

// A run of a task.
struct RunContext {
  std::uint32_t task = 0;
  std::optional<LaunchKey> of;  // launch that the run belongs to; none: the runtime started it
  std::optional<Point> point;
  std::vector<std::optional<RegionPlace>> places;  // pieces of the task, by requirement
};

// Not thread-safe.
class ContextEvents {
 public:
  bool contains(TaskRun run) const { return contexts_.contains(run); }
  bool is_full() const { return contexts_.size() >= kMaxTaskRuns; }
  // Returns true if there is room for a run that has launched nothing yet.
  bool has_room_for_idle() const { return idle_ < kMaxIdle && !is_full(); }

  // Adds a run, unless it is known. `is_idle`: it has launched nothing yet.
  void add(TaskRun run, RunContext context, bool is_idle);
  // Notes that a run that was added launches something.
  void launches(TaskRun run);
  // Writes the runs of all tasks that launched something to `events`, which has the regions and the
  // launches already. Equal runs are counted as one context.
  void add_to(app::Events& events, const LaunchEvents& launches) const;

 private:
  static constexpr std::size_t kMaxIdle = 8192;  // runs that have launched nothing

  struct Known {
    RunContext context;
    bool is_idle = false;
  };

  std::unordered_map<TaskRun, Known> contexts_;
  std::size_t idle_ = 0;  // number of idle entries in contexts_
};

}  // namespace groma::legion
