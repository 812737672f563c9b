// Rehearsal: what a run would ask of its mappers and its memories, statement by statement in the
// order of the program, without events and without time. What a run refuses whatever its timing is
// found exactly; where its timing matters, what may come of it is said.
//
// The store is the run's own, so instances are found, made and given up as there. What timing
// decides is which of them are still in use: all that was mapped since the last wait for everything
// may be. As long as no instance is given up that may be, in an order that only its use could
// change, the rehearsal's store is the run's, and what it says is certain. From then on, and where
// the order of mapping is timing's too (tasks that launch themselves, limits, processors by load),
// only that is certain which does not look at other tasks' instances; memories are then judged by
// the sum of all instances that any order could make.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "groma/simulate.h"

namespace groma::sim {

struct RehearsalOptions {
  std::int64_t max_tasks = SimulateOptions().max_tasks;  // as the run has it
  std::int64_t max_bytes = SimulateOptions().max_bytes;  // the same
  std::int64_t max_steps = std::int64_t{1} << 20;        // statements and points looked at
  std::int64_t max_work = std::int64_t{1} << 27;         // units of Budget: a second or two
  std::function<bool()> stop = {};                       // asked about every millisecond
  bool first_error = false;                              // look no further
};

struct RehearsalResult {
  // Errors: the run is refused. Warnings: it may be. The first error is the run's own, where what
  // comes before it is certain.
  std::vector<Refusal> findings;
  std::string incomplete;  // why not everything was looked at; empty: it was
};

// `make` makes ProgramMappers or DefaultMappers, all of one program, or others that answer for a
// processor by its kind and node.
RehearsalResult rehearse(const Workload& workload, const std::shared_ptr<const Machine>& machine,
                         const MapperFactory& make, const RehearsalOptions& options = {});

}  // namespace groma::sim
