// RehearsalState: what a rehearsal knows and has found at one point of the program.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "simulate/findings.h"
#include "simulate/hash.h"
#include "simulate/links.h"
#include "simulate/rehearsal.h"
#include "simulate/rough_clock.h"
#include "simulate/run_parts.h"
#include "simulate/wants.h"

namespace groma::sim {

struct RehearsalState {
  // If `does_note_wants` is true, the rehearsal notes the instances that all requirements may want.
  RehearsalState(const app::Data& data, const DataSpaces& spaces,
                 std::shared_ptr<const Machine> machine, const MapperFactory& make,
                 const RehearsalOptions& its_options, bool does_note_wants);

  // Moves the refusals that ended the run to the findings, and lets the rehearsal go on. If
  // `is_certain` is false, the refusals become warnings. Afterwards the state of the store is
  // uncertain, since a real run would have ended here.
  void collect_refusals(const app::Launch* launch, const TaskRun* run, bool is_certain = true);
  // Adds warnings about memories and copies that may fail if the tasks run in another order.
  void warn_about_wants();
  // Returns the findings, and the reason why the rehearsal is incomplete, if there is one.
  RehearsalResult finish();
  // Adds a value to `signature`, the hash of what the rehearsal did.
  void add_to_signature(std::uint64_t value) { signature = combine_hash(signature, value); }

  const RehearsalOptions& options;
  const bool notes_wants;
  RunParts parts;
  Findings findings;
  WantedInstances wants;
  Links links;
  // Estimates the time of the run. nullopt: no time is wanted.
  std::optional<RoughClock> clock;
  // `certain` is true as long as the store surely has the same state as in a run. `ordered` is true
  // as long as mappers are surely asked in the same order as in a run.
  bool certain = true, ordered = true;
  // True if a mapper wants profiling of a task, as it does for an `InstanceLimit`.
  bool limited = false;
  // True if a mapper wants profiling of a task that was launched by a task other than the top-level
  // task.
  bool limited_inside = false;
  // A hash of the instances that were taken and of the copies, in their order.
  std::uint64_t signature = 1;
  // The number of the task whose mapper is being asked.
  std::uint32_t asking = 0;

 private:
  bool stops() const;
};

}  // namespace groma::sim
