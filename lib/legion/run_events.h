// RunEvents: what the recorders of a process observe while the program runs. The result is an
// app::Events (recording/events.h).
#pragma once

#include <legion.h>

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

// Thread-safe. No lock is held while Legion is asked.
class RunEvents {
 public:
  // The events are written to `file` when the last recorder has left. They are written again if
  // other recorders came later.
  RunEvents(std::string file, std::shared_ptr<const MachineMap> machine)
      : file_(std::move(file)), machine_(std::move(machine)) {}

  void mapper_begins();
  void mapper_ends();

  // Events that do not depend on the launches of the run.
  TaskEvents& tasks() { return tasks_; }
  RuntimeCosts& costs() { return costs_; }

  // Notes the launch of a task or of all points of an index launch.
  void launched(Legion::Mapping::MapperRuntime* runtime, MapperContext context,
                const Legion::Task& task);
  // Notes that a point of a launch is mapped. The regions that a projection functor gave to the
  // point are known only now.
  void mapped(Legion::Mapping::MapperRuntime* runtime, MapperContext context,
              const Legion::Task& point);
  // Notes that the task, or each point of the launch, will be mapped unless its predicate is false.
  void expected(const Legion::Task& task);
  // Notes that one of the expected tasks is mapped.
  void came(const Legion::Task& task);
  // Notes that the run has traces (ExpectedTasks::may_replay).
  void may_replay() { expected_.may_replay(); }
  // Notes that a task is mapped to a variant that may launch something.
  void may_launch(Legion::Mapping::MapperRuntime* runtime, MapperContext context,
                  const Legion::Task& task);
  // Counts an operation that application descriptions cannot express.
  void other(const char* what, std::int64_t count = 1) { not_recorded_.add(what, count); }

  // Returns the text that is written to the file.
  std::string text();

 private:
  // Describes the launch of a task that a program's task made. Returns nothing if it cannot be
  // kept.
  std::optional<LaunchedTask> describe(Legion::Mapping::MapperRuntime* runtime,
                                       MapperContext context, const Legion::Task& task,
                                       std::uint32_t number);
  // Describes the domain of an index launch. Returns false if it cannot be kept.
  bool describe_domain(const Legion::Domain& domain, LaunchedTask& launch);
  // Describes a domain with holes by its boxes, or by the box around its points if it has too many.
  void find_boxes(const Legion::Domain& domain, LaunchedTask& launch);
  std::optional<app::Events::Requirement> requirement_of(Legion::Mapping::MapperRuntime* runtime,
                                                         MapperContext context,
                                                         const Legion::Task& task,
                                                         std::size_t position,
                                                         LaunchedTask& launch);
  // Returns the task's run with its pieces, or nothing if there are too many tasks.
  std::optional<RunContext> context_of(Legion::Mapping::MapperRuntime* runtime,
                                       MapperContext context, const Legion::Task& task);
  // The caller holds mutex_.
  void add_top_level(const Legion::Task& task, std::uint32_t number);
  // Returns all events. The caller holds mutex_.
  app::Events finished();
  // Counts the programs whose recording this one replaces.
  void count_programs_before();

  const std::string file_;
  const std::shared_ptr<const MachineMap> machine_;
  NotRecorded not_recorded_;
  TaskRuns runs_;
  TaskEvents tasks_{machine_};
  RegionEvents regions_{not_recorded_};
  ExpectedTasks expected_;
  RuntimeCosts costs_;
  std::mutex mutex_;  // This lock guards the members below.
  bool has_written_ = false;
  int recorders_ = 0;
  LaunchEvents launches_{not_recorded_};
  ContextEvents contexts_;
  std::uint32_t top_level_ = 0;
  std::set<Legion::UniqueID> tops_;  // The top-level tasks that were seen.
};

}  // namespace groma::legion
