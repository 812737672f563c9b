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
  const Program* mapping;  // null: the program maps itself
  const ProgramRun& run;
  const CommandOutcome& outcome;
  bool taken_over = false;    // Groma's library took over a Legion of the program
  bool said_why_not = false;  // or said why it did not
  bool was_checked = false;   // the program has run well under the mapping in the last 7 days
  const ProfileFacts* profile = nullptr;  // the run's profile; null: none

  // Returns true if the program ended well and was taken over.
  bool is_well() const { return taken_over && outcome.ended_well(); }
};

// Sets the stage, the feedback and the comparison of results. Expects the exit code, `checked` and
// the record in `result`. May run the program without the mapping to compare results. Fails if the
// program cannot be started then.
std::optional<Error> judge_run(const EndedRun& ended, const GuideRules& rules,
                               ProgramResult& result);

}  // namespace groma::inspect
