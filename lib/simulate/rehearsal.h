// Rehearsal: finds what a run would ask of its mappers and memories, statement by statement in
// program order, without events and without time. It finds refusals that do not depend on timing
// exactly. Where timing matters, it reports possible refusals. On request it also estimates the
// time of the run roughly (rough_clock.h).
//
// The rehearsal uses the same store as a run, so instances are found, made and evicted in the same
// way. Timing decides only which instances are still in use: everything that was mapped since the
// program last waited for all tasks may be in use. The result is certain as long as no instance
// that may be in use is evicted in an order that its use could change.
//
// After that, only results that do not depend on the instances of other tasks are certain. The same
// holds if timing also decides the order of mapping (tasks that launch tasks, limits, processors
// chosen by load). Memories are then judged by the sum of all instances that any order could make.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "groma/simulate.h"

namespace groma::sim {

struct RehearsalOptions {
  // The largest number of launched tasks, as in a run.
  std::int64_t max_tasks = SimulateOptions().max_tasks;
  // The largest memory of the rehearsal in bytes, as in a run.
  std::int64_t max_bytes = SimulateOptions().max_bytes;
  // The largest number of statements and points that are examined.
  std::int64_t max_steps = std::int64_t{1} << 20;
  // The largest amount of work in units of Budget. The default takes a second or two.
  std::int64_t max_work = std::int64_t{1} << 27;
  // Returns true if the rehearsal must stop. It is called about every millisecond. Empty: never
  // stop.
  std::function<bool()> stop = {};
  // True if the rehearsal ends at the first error.
  bool first_error = false;
  // The constants with which the rehearsal estimates the time of the run. nullopt: no time is
  // estimated.
  std::optional<EstimateConstants> estimate = {};
};

struct RehearsalResult {
  // The errors and warnings. An error means that the run is refused, and a warning that it may be
  // refused. The first error is the same as that of the run, if everything before it is certain.
  std::vector<Refusal> findings;
  // The reason why not everything was examined. Empty: everything was examined.
  std::string incomplete;
  // The estimated time of the run, in seconds (RunResult::seconds). nullopt: none was wanted, the
  // run is refused, or the rehearsal ended early.
  std::optional<double> rough_seconds = {};
};

// Rehearses a workload. The mappers that `make` makes must all be ProgramMapper objects of one
// program, or all be DefaultMapper objects, or must be mappers whose answers for a processor depend
// only on its kind and node.
RehearsalResult rehearse(const Workload& workload, const std::shared_ptr<const Machine>& machine,
                         const MapperFactory& make, const RehearsalOptions& options = {});

}  // namespace groma::sim
