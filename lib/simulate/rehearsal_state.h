// RehearsalState: what a rehearsal knows and has found at one point of the program.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "simulate/findings.h"
#include "simulate/hash.h"
#include "simulate/links.h"
#include "simulate/rehearsal.h"
#include "simulate/run_parts.h"
#include "simulate/wants.h"

namespace groma::sim {

struct RehearsalState {
  // `does_note_wants`: the instances that all requirements may want are noted.
  RehearsalState(const app::Data& data, const Spaces& spaces,
                 std::shared_ptr<const Machine> machine, const MapperFactory& make,
                 const RehearsalOptions& its_options, bool does_note_wants);

  // Moves the refusals that ended the run to the findings, and lets the rehearsal go on. With
  // `is_certain` false they become warnings. Afterwards the store is not certain, since the run
  // would be over.
  void collect(const app::Launch* launch, const TaskRun* run, bool is_certain = true);
  // Warns about memories and copies that may fail in another order of the tasks.
  void judge_wants();
  // Returns the findings, and the reason why the rehearsal is incomplete, if there is one.
  RehearsalResult finish();
  // Adds a value to the signature.
  void sign(std::uint64_t value) { signature = hash_on(signature, value); }

  const RehearsalOptions& options;
  const bool notes_wants;
  RunParts parts;
  Findings findings;
  Wants wants;
  Links links;
  // `certain`: the store is still that of the run. `ordered`: mappers are still asked in the order
  // of the run.
  bool certain = true, ordered = true;
  bool limited = false;         // a task has an `InstanceLimit`
  bool limited_inside = false;  // so has a task that a launched task launches
  std::uint64_t signature = 1;  // hash of the taken instances and the copies, in order
  std::uint32_t asking = 0;     // the task whose mapper is asked

 private:
  bool stops() const;
};

}  // namespace groma::sim
