// judge_run(): decides whether a run of a program under a mapping was right, and what its output
// means.
#pragma once

#include <optional>

#include "groma/guide.h"
#include "groma/program.h"
#include "groma/result.h"
#include "groma/run_program.h"

namespace groma::inspect {

// A run of a program that has ended. All referenced objects must outlive the call of judge_run().
struct EndedRun {
  // The mapping of the run. Null if the program maps itself.
  const Program* mapping;
  const ProgramRun& run;
  const CommandOutcome& outcome;
  // True if Groma's library took over a Legion runtime of the program.
  bool taken_over = false;
  // True if Groma's library printed why it did not take over a runtime.
  bool said_why_not = false;
  // True if the program has run well under the mapping in the last 7 days.
  bool was_checked = false;
  // The profile of the run. Null if there is none.
  const ProfileFacts* profile = nullptr;

  // Returns true if the program ended without an error and Groma took it over.
  bool is_well() const { return taken_over && outcome.ended_well(); }
};

// Judges a run: sets the stage, the feedback and the comparison of results in `result`, which must
// have the exit code, `checked` and the record. May run the program without the mapping to compare
// the results. Fails if the program cannot be started for that.
std::optional<Error> judge_run(const EndedRun& ended, const GuideRules& rules,
                               ProgramResult& result);

}  // namespace groma::inspect
