// measured_task_start(): the time between two tasks on a busy processor.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/median.h"
#include "groma/calibrate.h"

namespace groma {
namespace {

// Divides the list of waiting times (in seconds), in its order, into groups of at least
// kLeastTaskStarts successive times. Returns the 10th percentile of each group.
std::vector<double> undisturbed_waits(std::vector<double> waits) {
  const std::size_t groups = waits.size() / kLeastTaskStarts;
  std::vector<double> low;
  for (std::size_t g = 0; g < groups; ++g) {
    const auto at = [&](std::size_t group) {
      return waits.begin() + static_cast<std::ptrdiff_t>(group * waits.size() / groups);
    };
    low.push_back(value_at_percentile(at(g), at(g + 1), kUndisturbedPercentile));
  }
  return low;
}

}  // namespace

Result<MeasuredFigure> measured_task_start(const RunRecord& record, std::string source) {
  // The tasks of each CPU processor.
  std::map<std::int32_t, std::vector<const RunRecord::Event*>> tasks;
  for (const RunRecord::Event& event : record.events) {
    if (event.kind != RunRecord::Event::Kind::kTask || event.where < 0) continue;
    const auto where = static_cast<std::size_t>(event.where);
    if (where < record.processors.size() && record.processors[where].kind == "CPU")
      tasks[event.where].push_back(&event);
  }
  std::vector<double> waits;
  for (auto& [processor, events] : tasks) {
    std::sort(events.begin(), events.end(),
              [](const auto* a, const auto* b) { return a->start < b->start; });
    for (std::size_t i = 1; i < events.size(); ++i) {
      const RunRecord::Event &before = *events[i - 1], &task = *events[i];
      // A task that became ready only after the task before it had ended waited for something other
      // than the processor, so it does not count. Nor does a task that began before the task before
      // it had ended: the earlier task had then left the processor.
      if (task.ready <= before.end && task.start >= before.end)
        waits.push_back(kPicosecond * static_cast<double>(task.start - before.end));
    }
  }
  if (waits.size() < kLeastTaskStarts) {
    return Error{Error::Code::kMalformed,
                 fmt::format("the run has {} tasks that waited for their processor, at least {} "
                             "are needed",
                             waits.size(), kLeastTaskStarts)};
  }
  return measured_figure("CPU task start", "s", undisturbed_waits(std::move(waits)),
                         std::move(source));
}

}  // namespace groma
