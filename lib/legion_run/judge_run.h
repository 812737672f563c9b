// judge_run(): decides whether a run of a program under a mapping was right, and what its output
// means.
#pragma once

#include <optional>

#include "groma/guide.h"
#include "groma/program.h"
#include "groma/result.h"
#include "groma/run_program.h"

namespace groma::inspect {

// A run that has ended. Everything must outlive the call.
struct EndedRun {
  // The mapping of the run. Null: the program maps itself.
  const Program* mapping;
  const ProgramRun& run;
  const CommandOutcome& outcome;
  // True if Groma's library took over a Legion runtime of the program.
  bool taken_over = false;
  // True if the library said why it did not take over a runtime.
  bool said_why_not = false;
  // True if the program has run well under the mapping in the last 7 days.
  bool was_checked = false;
  // The profile of the run, or null.
  const ProfileFacts* profile = nullptr;

  // Returns true if the program ended well and was taken over.
  bool is_well() const { return taken_over && outcome.ended_well(); }
};

// Sets the stage, the feedback and the comparison of results in `result`, which must have the exit
// code, `checked` and the record. May run the program without the mapping to compare the results.
// Fails if the program cannot be started for that.
std::optional<Error> judge_run(const EndedRun& ended, const GuideRules& rules,
                               ProgramResult& result);

}  // namespace groma::inspect
