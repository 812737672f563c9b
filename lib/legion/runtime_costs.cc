// Measures the costs of the Legion runtime itself and takes a low percentile of the measured times.
#include "legion/runtime_costs.h"

#include <chrono>

#include "base/median.h"

namespace groma::legion {
namespace {

// The largest number of launches whose launch time is kept. At the limit, all launch times that are
// kept are dropped.
constexpr std::size_t kMaxIssued = 4096;
// The largest number of measured times that are kept for each of the two costs: the cost of a
// launch call and the cost of mapping a task.
constexpr std::size_t kMaxCosts = 65'536;

}  // namespace

std::int64_t HookTimes::now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Returns the number of measured times and the time at this percentile. Without times, the result
// is empty.
app::Events::Cost percentile(std::vector<std::int64_t> times, std::size_t percent) {
  if (times.empty()) return {};
  return {static_cast<std::int64_t>(times.size()),
          value_at_percentile(times.begin(), times.end(), percent)};
}

void RuntimeCosts::add_launch_call_time(std::int64_t nanoseconds) {
  const std::lock_guard lock(mutex_);
  // The first launch call is left out, because Legion initialises itself in it.
  if (!std::exchange(has_called_, true)) return;
  if (issue_costs_.size() < kMaxCosts) issue_costs_.push_back(nanoseconds);
}

// Notes the time when a single task or index launch was launched. Top-level tasks are left out,
// because no task launched them.
void RuntimeCosts::issued(const Legion::Task& task, const HookTimes& times) {
  const Legion::Task* const parent = task.get_parent_task();
  if (parent == nullptr) return;
  const std::lock_guard lock(mutex_);
  if (issued_at_.size() >= kMaxIssued) issued_at_.clear();
  issued_at_[{parent->get_unique_id(), task.get_context_index()}] = times.end();
}

// Notes that a task was mapped. The points of an index launch are mapped one after the other and
// all need the launch time of the index launch, so this time is kept. The launch time of a single
// task is removed.
void RuntimeCosts::mapped(const Legion::Task& task, const HookTimes& times) {
  const Legion::Task* const parent = task.get_parent_task();
  if (parent == nullptr) return;
  const std::lock_guard lock(mutex_);
  const auto issued = issued_at_.find({parent->get_unique_id(), task.get_context_index()});
  if (issued != issued_at_.end() && map_costs_.size() < kMaxCosts) {
    map_costs_.push_back(times.since(std::max(last_map_, issued->second)));
    if (!task.is_index_space) issued_at_.erase(issued);
  }
  last_map_ = HookTimes::now();
}

void RuntimeCosts::add_to(app::Events& events) const {
  const std::lock_guard lock(mutex_);
  events.issue = percentile(issue_costs_, kUndisturbedPercentile);
  events.map = percentile(map_costs_, kUndisturbedPercentile);
}

}  // namespace groma::legion
