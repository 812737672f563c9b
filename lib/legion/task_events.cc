// Asks Legion for the names and variants of tasks, and collects the demanded layouts and the run
// times.
#include "legion/task_events.h"

#include <algorithm>
#include <utility>

#include "legion/runtime_costs.h"

namespace groma::legion {
namespace {

using app::Events;

// The largest number of different layout demands that are kept for one region requirement.
constexpr std::ptrdiff_t kMaxDemands = 8;
// The largest number of run times that are kept for each task on each processor kind.
constexpr std::size_t kMaxTimes = 1024;

}  // namespace

// Returns the number of a task. A view of the task without its regions tells its name and variants.
// Legion is asked without the lock, so another thread may add the task meanwhile; the second
// look-up finds it.
std::optional<std::uint32_t> TaskEvents::number_of(Legion::Mapping::MapperRuntime* runtime,
                                                   MapperContext context,
                                                   const Legion::Task& task) {
  {
    const std::lock_guard lock(mutex_);
    const auto known = numbers_.find(task.task_id);
    if (known != numbers_.end()) return known->second;
    if (tasks_.size() >= app::kMaxEventTasks) return std::nullopt;
  }
  RegionIds ids;
  TaskViews views(*machine_, &ids, 0, runtime);
  TaskView view;
  views.fill(context, task, {}, view);
  Events::Task made;
  made.name = view.name;
  for (const VariantView& each : view.variants) {
    made.variants.push_back({each.kind,
                             each.leaf,
                             each.inner,
                             each.replicable,
                             {each.demands.begin(), each.demands.end()}});
  }
  const std::lock_guard lock(mutex_);
  const auto known = numbers_.find(task.task_id);
  if (known != numbers_.end()) return known->second;
  const std::size_t number = tasks_.size();
  if (number >= app::kMaxEventTasks) return std::nullopt;
  for (std::size_t i = 0; i < view.variants.size(); ++i) {
    variants_[{task.task_id, view.variants[i].id}] = i;
  }
  tasks_.push_back(std::move(made));
  return numbers_[task.task_id] = static_cast<std::uint32_t>(number);
}

// Returns the recorded variant of a task, or null for a variant that was registered after the task
// was first seen.
Events::Variant* TaskEvents::variant_of(const Legion::Task& task, Legion::VariantID variant) {
  const auto number = numbers_.find(task.task_id);
  const auto at = variants_.find({task.task_id, variant});
  if (number == numbers_.end() || at == variants_.end()) return nullptr;
  return &tasks_[number->second].variants[at->second];
}

void TaskEvents::add_chosen_variant(const Legion::Task& task, Legion::VariantID variant) {
  const std::lock_guard lock(mutex_);
  Events::Variant* const known = variant_of(task, variant);
  if (known != nullptr) known->chosen_by_mapper = true;
}

// Notes a layout demand. A demand that asks for nothing, a repeated demand, and demands beyond the
// limit are dropped.
void TaskEvents::add_layout_demand(const Legion::Task& task, Legion::VariantID variant,
                                   const LayoutDemand& demand) {
  LayoutDemand nothing;
  nothing.requirement = demand.requirement;
  nothing.source = demand.source;
  if (demand == nothing) return;
  const std::lock_guard lock(mutex_);
  Events::Variant* const known = variant_of(task, variant);
  if (known == nullptr) return;
  auto& demands = known->demands;
  if (std::find(demands.begin(), demands.end(), demand) != demands.end()) return;
  const auto same_place = [&](const LayoutDemand& one) {
    return one.requirement == demand.requirement && one.source == demand.source;
  };
  if (std::count_if(demands.begin(), demands.end(), same_place) < kMaxDemands) {
    demands.push_back(demand);
  }
}

// Returns true if the next run of the task should be measured. Counts the runs for which a
// measurement is requested, not the results that have come, so that no more runs than needed are
// measured.
bool TaskEvents::wants_run_time(const Legion::Task& task) {
  const std::lock_guard lock(mutex_);
  const auto known = numbers_.find(task.task_id);
  const auto kind = kind_of(task.target_proc.kind());
  return known != numbers_.end() && kind &&
         ++wanted_times_[{known->second, *kind}] <= static_cast<std::int64_t>(kMaxTimes);
}

// Notes the run time of a task. Times of processor kinds that Groma does not have are dropped.
void TaskEvents::add_run_time(const Legion::Task& task, Legion::Processor::Kind kind,
                              std::int64_t nanoseconds) {
  const std::lock_guard lock(mutex_);
  const auto known = numbers_.find(task.task_id);
  const auto of = kind_of(kind);
  if (known == numbers_.end() || !of) return;
  std::vector<std::int64_t>& times = times_[{known->second, *of}];
  if (times.size() < kMaxTimes) times.push_back(nanoseconds);
}

void TaskEvents::add_to(Events& events) const {
  const std::lock_guard lock(mutex_);
  events.tasks = tasks_;
  for (const auto& [of, times] : times_) {
    const Events::Cost median = percentile(times, 50);
    events.times.push_back({of.first, of.second, median.count, median.nanoseconds});
  }
}

}  // namespace groma::legion
