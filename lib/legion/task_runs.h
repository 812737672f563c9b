// TaskRuns: numbers the runs of tasks. In Legion, each shard of a replicated task is a task with
// its own id. Here the shards of one task count as one run, because they make the same launches and
// each maps some of the points.
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

// The number of a run, which is the unique id of the task or of its first shard.
using TaskRun = Legion::UniqueID;
// Identifies a launch: the run of the task that launches, and the launch's number in this run.
using LaunchKey = std::pair<TaskRun, std::uint64_t>;

// Limit of the runs that a recorder keeps.
inline constexpr std::size_t kMaxTaskRuns = std::size_t{1} << 17;

// Thread-safe.
class TaskRuns {
 public:
  // Returns the number of the task's run. Beyond kMaxTaskRuns replicated runs, returns the task's
  // own id.
  TaskRun of(const Legion::Task& task);
  // Returns the launch that the task, or the point, belongs to. Returns nothing for a task that the
  // runtime started.
  std::optional<LaunchKey> launch_of(const Legion::Task& task);

 private:
  std::mutex mutex_;
  // The first shard seen of each replicated task. The key: run of the parent, number in that run,
  // point, task.
  std::map<std::tuple<TaskRun, std::uint64_t, std::vector<std::int64_t>, Legion::TaskID>, TaskRun>
      shards_;
};

}  // namespace groma::legion
