// ContextEvents: records the runs of those tasks that launch something. Each run is kept with the
// regions that it got, so that its launches can be described relative to these regions.
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

// One run of a task, in which the task may launch other tasks.
struct LaunchingTaskRun {
  std::uint32_t task = 0;
  // The launch that the run belongs to. Empty if the runtime itself started the task.
  std::optional<LaunchKey> launch;
  std::optional<Point> point;
  // The region that the run got for each region requirement. An entry is empty if the region is
  // unknown.
  std::vector<std::optional<RecordedRegionPath>> places;
};

// Records the runs of tasks that launch something. Not thread-safe.
class ContextEvents {
 public:
  bool contains(TaskRun run) const { return contexts_.contains(run); }
  bool is_full() const { return contexts_.size() >= kMaxTaskRuns; }
  // Returns true if there is room for one more run that has launched nothing yet.
  bool has_room_for_idle() const { return idle_ < kMaxIdle && !is_full(); }

  // Adds a run of a task, unless it was added before. `is_idle`: the run has launched nothing yet.
  void add(TaskRun run, LaunchingTaskRun context, bool is_idle);
  // Notes that a run launches something. The run must have been added before.
  void mark_launching(TaskRun run);
  // Adds the runs of all tasks that launched something to `events`, which must have the regions and
  // the launches already. Equal runs are counted as one context.
  void add_to(app::Events& events, const LaunchEvents& launches) const;

 private:
  // The largest number of kept runs that have launched nothing.
  static constexpr std::size_t kMaxIdle = 8192;

  struct RecordedRun {
    LaunchingTaskRun context;
    bool is_idle = false;
  };

  std::unordered_map<TaskRun, RecordedRun> contexts_;
  // The number of runs in contexts_ that have launched nothing.
  std::size_t idle_ = 0;
};

}  // namespace groma::legion
