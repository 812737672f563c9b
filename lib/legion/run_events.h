// RunEvents: collects what the recorders of a process observe while the program runs. The result is
// an app::Events (recording/events.h).
#pragma once

#include <legion.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "legion/context_events.h"
#include "legion/expected_tasks.h"
#include "legion/launch_events.h"
#include "legion/machine_map.h"
#include "legion/not_recorded.h"
#include "legion/region_events.h"
#include "legion/runtime_costs.h"
#include "legion/task_events.h"
#include "legion/task_runs.h"
#include "recording/events.h"

namespace groma::legion {

// Collects the events of a run. Thread-safe. No lock is held during calls to Legion.
class RunEvents {
 public:
  // The events are written to `file` when the last recorder has ended. They are written again if
  // other recorders begin and end later.
  RunEvents(std::string file, std::shared_ptr<const MachineMap> machine)
      : file_(std::move(file)), machine_(std::move(machine)) {}

  void on_mapper_start();
  void on_mapper_end();

  // Says whether the program is in a block that is to be recorded. Outside of blocks, launches are
  // not recorded. The program calls this when all its earlier launches have run. A program that
  // never calls it is recorded as a whole.
  void record_block(bool is_inside) { is_outside_block_ = !is_inside; }

  // Return the collectors of facts that are not about single launches: the tasks of the run, and
  // the costs of the runtime.
  TaskEvents& tasks() { return tasks_; }
  RuntimeCosts& costs() { return costs_; }

  // Notes the launch of a single task or of all points of an index launch.
  void launched(Legion::Mapping::MapperRuntime* runtime, MapperContext context,
                const Legion::Task& task);
  // Notes that a point of a launch is mapped. The regions that a projection functor gave to the
  // point are known only now.
  void mapped(Legion::Mapping::MapperRuntime* runtime, MapperContext context,
              const Legion::Task& point);
  // Notes that the task, or each point of the index launch, will be mapped unless its predicate is
  // false.
  void expected(const Legion::Task& task);
  // Notes that one of the tasks given to expected() is mapped.
  void task_was_mapped(const Legion::Task& task);
  // Notes that the program uses traces, which replay tasks without a mapper
  // (ExpectedTasks::disable_for_traces).
  void note_traces_used() { expected_.disable_for_traces(); }
  // Notes that a task is mapped to a variant that may launch something.
  void may_launch(Legion::Mapping::MapperRuntime* runtime, MapperContext context,
                  const Legion::Task& task);
  // Counts an operation that the recording leaves out, because application descriptions cannot
  // express it.
  void count_omitted(const char* what, std::int64_t count = 1) { not_recorded_.add(what, count); }

  // Returns the recording as the text that is written to the file.
  std::string text();

 private:
  // Describes the launch of a task by another task of the program. Returns nothing if the limits do
  // not allow to record it.
  std::optional<LaunchFacts> describe(Legion::Mapping::MapperRuntime* runtime,
                                      MapperContext context, const Legion::Task& task,
                                      std::uint32_t number);
  // Describes the domain of an index launch. Returns false if the domain cannot be recorded.
  bool describe_domain(const Legion::Domain& domain, LaunchFacts& launch);
  // Describes a launch domain with holes by its boxes, or by the box around its points if there are
  // too many boxes.
  void find_boxes(const Legion::Domain& domain, LaunchFacts& launch);
  std::optional<app::Events::Requirement> requirement_of(Legion::Mapping::MapperRuntime* runtime,
                                                         MapperContext context,
                                                         const Legion::Task& task,
                                                         std::size_t position, LaunchFacts& launch);
  // Returns the task's run with the regions that it got, or nothing if there are too many tasks.
  std::optional<LaunchingTaskRun> context_of(Legion::Mapping::MapperRuntime* runtime,
                                             MapperContext context, const Legion::Task& task);
  // Notes a top-level task of the program. The caller holds mutex_.
  void add_top_level(const Legion::Task& task, std::uint32_t number);
  // Returns all collected events of the run. The caller holds mutex_.
  app::Events finished();
  // Counts the earlier programs whose recordings in the same file this one replaces.
  void count_replaced_recordings();

  const std::string file_;
  const std::shared_ptr<const MachineMap> machine_;
  std::atomic<bool> is_outside_block_ = false;
  NotRecorded not_recorded_;
  TaskRuns runs_;
  TaskEvents tasks_{machine_};
  RegionEvents regions_{not_recorded_};
  ExpectedTasks expected_;
  RuntimeCosts costs_;
  // This lock guards the members below.
  std::mutex mutex_;
  bool has_written_ = false;
  int recorders_ = 0;
  LaunchEvents launches_{not_recorded_};
  ContextEvents contexts_;
  std::uint32_t top_level_ = 0;
  // The unique ids of the top-level tasks that were seen.
  std::set<Legion::UniqueID> tops_;
};

}  // namespace groma::legion
