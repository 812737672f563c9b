// TaskRuns: gives each run of a task a number. In Legion, each shard of a replicated task is a task
// with its own id. Here the shards of one task count as one run, because they make the same
// launches and each maps some of the points.
#pragma once

#include <legion.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

namespace groma::legion {

// Identifies a run of a task: the unique id of the task or of its first shard.
using TaskRun = Legion::UniqueID;
// Identifies a launch: the run of the task that launches, and the launch's number in this run.
using LaunchKey = std::pair<TaskRun, std::uint64_t>;

// The largest number of task runs that a recorder keeps.
inline constexpr std::size_t kMaxTaskRuns = std::size_t{1} << 17;

// Finds the run to which a task belongs. Thread-safe.
class TaskRuns {
 public:
  // Returns the number of the task's run. Beyond kMaxTaskRuns runs of replicated tasks, returns the
  // task's own id.
  TaskRun run_of(const Legion::Task& task);
  // Returns the launch to which a task or a point task belongs. Returns nothing for a task that the
  // runtime started.
  std::optional<LaunchKey> launch_of(const Legion::Task& task);

 private:
  std::mutex mutex_;
  // The first shard that was seen of each replicated task. The key has the run of the parent, the
  // number of the launch in that run, the point, and the task id.
  std::map<std::tuple<TaskRun, std::uint64_t, std::vector<std::int64_t>, Legion::TaskID>, TaskRun>
      shards_;
};

}  // namespace groma::legion
