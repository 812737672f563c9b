// Records the runs of tasks that launch something, and writes equal runs as one context with a
// count.
#include "legion/context_events.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace groma::legion {
namespace {

using app::Events;

// Returns true if the requirements of the launch name the same root regions as the regions that the
// run of the task got, in the same order.
bool has_regions(const Events::LaunchShape& launch, const LaunchingTaskRun& run) {
  return std::equal(launch.requirements.begin(), launch.requirements.end(), run.places.begin(),
                    run.places.end(), [](const Events::Requirement& of_launch, const auto& place) {
                      return place && place->region == of_launch.region;
                    });
}

// Returns the index in `events.shapes` of the shape of the launch that started this run of a task,
// or -1 if it is unknown. The tasks of a must epoch share one launch number in their parent. Then
// the first of their launches whose requirements have the regions of the run is taken, or else the
// first launch of the task.
std::int32_t shape_of(const LaunchingTaskRun& run, const LaunchEvents& launches,
                      const Events& events) {
  if (!run.launch) return -1;
  const auto& known = launches.launches_of_run(run.launch->first);
  const std::uint64_t number = run.launch->second;
  std::int32_t first = -1;
  for (auto of = std::lower_bound(known.begin(), known.end(), std::pair(number, std::uint32_t{0}));
       of != known.end() && of->first == number; ++of) {
    const std::uint32_t shape = events.launches[of->second].shape;
    if (events.shapes[shape].task != run.task) continue;
    if (first < 0) first = static_cast<std::int32_t>(shape);
    if (has_regions(events.shapes[shape], run)) return static_cast<std::int32_t>(shape);
  }
  return first;
}

// Returns the numbers that describe the point and the regions of a run of a task
// (TaskRunGroup::run_arguments). `lengths`: the number of coordinates of the point, then the number
// of colours for the region of each requirement (Events::argument_part_lengths). Returns nothing if
// the run does not fit the lengths.
std::optional<std::vector<std::int64_t>> given(const LaunchingTaskRun& run,
                                               const std::vector<std::size_t>& lengths) {
  std::vector<std::int64_t> numbers;
  if (run.point) {
    numbers.assign(run.point->coordinates().begin(), run.point->coordinates().end());
  }
  if (numbers.size() != lengths[0] || run.places.size() + 1 != lengths.size()) return std::nullopt;
  for (std::size_t r = 0; r < run.places.size(); ++r) {
    const std::size_t length = lengths[r + 1];
    if (length == 0) continue;
    const auto& place = run.places[r];
    if (!place || length != place->colors.size()) return std::nullopt;
    numbers.insert(numbers.end(), place->colors.begin(), place->colors.end());
  }
  return numbers;
}

// Describes a run of a task, without the launches that it makes: the task, the shape of the launch
// that started the run, its point, and the colours of its regions. If the point and the colours do
// not fit the shape, the shape becomes -1 and they are left out.
Events::TaskRunGroup describe(const LaunchingTaskRun& run, const LaunchEvents& launches,
                              const Events& events) {
  Events::TaskRunGroup made;
  made.task = run.task;
  made.shape = shape_of(run, launches, events);
  const std::vector<std::size_t> lengths = events.argument_part_lengths(made);
  if (lengths.empty()) return made;
  if (auto numbers = given(run, lengths)) {
    made.run_arguments = *std::move(numbers);
  } else {
    made.shape = -1;
  }
  return made;
}

}  // namespace

void ContextEvents::add(TaskRun run, LaunchingTaskRun context, bool is_idle) {
  const bool is_new = contexts_.try_emplace(run, RecordedRun{std::move(context), is_idle}).second;
  if (is_new && is_idle) ++idle_;
}

void ContextEvents::mark_launching(TaskRun run) {
  if (std::exchange(contexts_.at(run).is_idle, false)) --idle_;
}

// Adds the runs to `events`. Two runs are equal if they have the same task, shape of launch,
// regions and launches. Runs of a task that never launches anything are left out.
void ContextEvents::add_to(Events& events, const LaunchEvents& launches) const {
  // The tasks of which at least one run launches something.
  std::set<std::uint32_t> launching;
  for (const auto& [run, known] : contexts_) {
    if (!launches.launches_of_run(run).empty()) launching.insert(known.context.task);
  }
  using Same = std::tuple<std::uint32_t, std::int32_t, std::vector<std::int64_t>,
                          std::vector<std::uint32_t>>;
  std::map<Same, std::int64_t> counts;
  for (const auto& [run, known] : contexts_) {
    if (!launching.contains(known.context.task)) continue;
    Events::TaskRunGroup made = describe(known.context, launches, events);
    std::vector<std::uint32_t> numbers;
    for (const auto& [index, number] : launches.launches_of_run(run)) numbers.push_back(number);
    ++counts[{made.task, made.shape, std::move(made.run_arguments), std::move(numbers)}];
  }
  for (const auto& [same, count] : counts) {
    const auto& [task, shape, numbers, of_run] = same;
    events.contexts.push_back({task, shape, numbers, count, app::fold_into_loops(of_run)});
  }
}

}  // namespace groma::legion
