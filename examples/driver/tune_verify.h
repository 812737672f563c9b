// The part of `groma tune` that runs a real program under the mappings that the search found.
#pragma once

#include <string>
#include <vector>

#include "groma/result.h"
#include "groma/verify.h"
#include "tune_subject.h"

namespace driver {

// Runs the program of --verify before the search. Prints and returns warnings if the program does
// not seem to be the application for which the search looks for a mapping.
groma::Result<std::vector<std::string>> look_at_program(const TuneArguments& arguments,
                                                        const Subject& subject);

// Verifies the best mappings and returns the exit code. The fastest one is written to
// verified.mapper in the search's directory. `warnings` come from look_at_program().
int verify_search(const TuneArguments& arguments, const groma::tuning::TuneOutcome& outcome,
                  const groma::tuning::BestSteps& best, const Subject& subject,
                  const std::string& directory, const std::vector<std::string>& warnings);

// After a search with --on legion: for each application, compares runs without a mapping, under the
// start and under the best mapping. Returns the exit code.
int compare_without_mapping(const TuneArguments& arguments,
                            const groma::tuning::TuneOutcome& outcome, const Subject& subject);

}  // namespace driver
