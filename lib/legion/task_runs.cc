// Gives each run of a task a number. The shards of one replicated task are recognised by their
// common place in the run of their parent: same launch, same point, same task.
#include "legion/task_runs.h"

#include "legion/task_views.h"

namespace groma::legion {

// Returns the run of a task. A task without shards is its own run. For a shard, the first shard
// that was seen of the same task gives the number. The parent may be a shard too, so its run is
// found before the lock is taken.
TaskRun TaskRuns::run_of(const Legion::Task& task) {
  if (task.get_total_shards() <= 1) return task.get_unique_id();
  const LaunchKey launch = launch_of(task).value_or(LaunchKey{0, task.get_context_index()});
  std::vector<std::int64_t> point;
  if (task.is_index_space) {
    const Point at = point_of(task.index_point);
    point.assign(at.coordinates().begin(), at.coordinates().end());
  }
  const std::tuple key{launch.first, launch.second, std::move(point), task.task_id};
  const std::lock_guard lock(mutex_);
  const auto known = shards_.find(key);
  if (known != shards_.end()) return known->second;
  if (shards_.size() >= kMaxTaskRuns) return task.get_unique_id();
  return shards_[key] = task.get_unique_id();
}

std::optional<LaunchKey> TaskRuns::launch_of(const Legion::Task& task) {
  const Legion::Task* const parent = task.get_parent_task();
  if (parent == nullptr) return std::nullopt;
  return LaunchKey{run_of(*parent), task.get_context_index()};
}

}  // namespace groma::legion
