// Counts the launched tasks that are not mapped yet, for each launch. At most kMaxLaunches launches
// are followed at the same time.
#include "legion/expected_tasks.h"

namespace groma::legion {
namespace {

// The largest number of launches that are followed at the same time. A launch is followed until all
// its tasks are mapped; at the limit, further launches are ignored.
constexpr std::size_t kMaxLaunches = 65'536;

}  // namespace

void ExpectedTasks::add(const LaunchKey& launch, std::int64_t tasks) {
  const std::lock_guard lock(mutex_);
  if (!may_replay_ && tasks_.size() < kMaxLaunches) tasks_[launch] += tasks;
}

void ExpectedTasks::task_mapped(const LaunchKey& launch) {
  const std::lock_guard lock(mutex_);
  const auto found = tasks_.find(launch);
  if (found != tasks_.end() && --found->second <= 0) tasks_.erase(found);
}

void ExpectedTasks::disable_for_traces() {
  const std::lock_guard lock(mutex_);
  may_replay_ = true;
  tasks_.clear();
}

// Writes the number of all tasks that no mapper mapped as one entry of `undescribed_operations`, if
// there are any.
void ExpectedTasks::add_to(app::Events& events) const {
  const std::lock_guard lock(mutex_);
  std::int64_t sum = 0;
  for (const auto& [launch, tasks] : tasks_) sum += tasks;
  if (sum == 0) return;
  app::Events::CountedOperations& other = events.undescribed_operations.emplace_back();
  other.what = "that tasks did not run since their predicates were false";
  other.count = sum;
}

}  // namespace groma::legion
