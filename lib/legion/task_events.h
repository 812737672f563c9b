// TaskEvents: records the tasks of a run with their variants, the layouts that the program's own
// mapper demands for them, and their run times.
#pragma once

#include <legion.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "legion/machine_map.h"
#include "legion/task_views.h"
#include "recording/events.h"

namespace groma::legion {

// Records for each task of a run its name, its layout demands and its run times. Thread-safe. No
// lock is held during calls to Legion.
class TaskEvents {
 public:
  explicit TaskEvents(std::shared_ptr<const MachineMap> machine) : machine_(std::move(machine)) {}

  // Returns the number of the task in the recording and adds the task if it is new. Returns nothing
  // if there are too many tasks.
  std::optional<std::uint32_t> number_of(Legion::Mapping::MapperRuntime* runtime,
                                         MapperContext context, const Legion::Task& task);
  // Notes that the program's own mapper chose this variant for the task.
  void add_chosen_variant(const Legion::Task& task, Legion::VariantID variant);
  // Notes that the program's own mapper requested this layout for a region requirement of this
  // variant. Different demands for one requirement are all kept, up to a small limit.
  void add_layout_demand(const Legion::Task& task, Legion::VariantID variant,
                         const LayoutDemand& demand);
  // Returns true if the run time of one more run of the task should be measured.
  bool wants_run_time(const Legion::Task& task);
  // Notes the run time of one run of the task on this processor kind.
  void add_run_time(const Legion::Task& task, Legion::Processor::Kind kind,
                    std::int64_t nanoseconds);
  // Adds the tasks and their median run times to `events`.
  void add_to(app::Events& events) const;

 private:
  // The number of a task, and the processor kind on which it runs.
  using TaskOnKind = std::pair<std::uint32_t, ProcKind>;

  // Returns the recorded variant of a task, or null if it is unknown. The caller holds mutex_.
  app::Events::Variant* variant_of(const Legion::Task& task, Legion::VariantID variant);

  const std::shared_ptr<const MachineMap> machine_;
  mutable std::mutex mutex_;
  std::vector<app::Events::Task> tasks_;
  std::map<Legion::TaskID, std::uint32_t> numbers_;
  // The position of each variant in the list of variants of its task.
  std::map<std::pair<Legion::TaskID, Legion::VariantID>, std::size_t> variants_;
  std::map<TaskOnKind, std::vector<std::int64_t>> times_;
  // The number of runs of each task for which a time measurement was requested.
  std::map<TaskOnKind, std::int64_t> wanted_times_;
};

}  // namespace groma::legion
