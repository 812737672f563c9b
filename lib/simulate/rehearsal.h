// Rehearsal: finds what a run would ask of its mappers and memories, statement by statement in
// program order, without events and without time. Refusals that do not depend on timing are found
// exactly. Where timing matters, possible refusals are reported.
//
// The store is the same as in a run, so instances are found, made and evicted in the same way.
// Timing decides only which instances are still in use: everything that was mapped since the last
// wait for everything may be in use. The result is certain as long as no instance that may be in
// use is evicted in an order that its use could change.
//
// After that, only results that do not depend on other tasks' instances are certain. The same holds
// if timing also decides the order of mapping (tasks that launch tasks, limits, processors chosen
// by load). Memories are then judged by the sum of all instances that any order could make.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "groma/simulate.h"

namespace groma::sim {

struct RehearsalOptions {
  std::int64_t max_tasks = SimulateOptions().max_tasks;  // as in the run
  std::int64_t max_bytes = SimulateOptions().max_bytes;  // as in the run
  std::int64_t max_steps = std::int64_t{1} << 20;        // statements and points that are examined
  std::int64_t max_work = std::int64_t{1} << 27;         // units of Budget: a second or two
  std::function<bool()> stop = {};                       // asked about every millisecond
  bool first_error = false;                              // stop at the first error
};

struct RehearsalResult {
  // Errors: the run is refused. Warnings: it may be refused. The first error is the same as that of
  // the run, if everything before it is certain.
  std::vector<Refusal> findings;
  std::string incomplete;  // why not everything was examined; empty: everything was
};

// Rehearses a workload. `make` must make ProgramMappers or DefaultMappers of one program, or
// mappers whose answers for a processor depend only on its kind and node.
RehearsalResult rehearse(const Workload& workload, const std::shared_ptr<const Machine>& machine,
                         const MapperFactory& make, const RehearsalOptions& options = {});

}  // namespace groma::sim
