// The part of `groma tune` that runs a real program under the mappings that the search found.
#pragma once

#include <string>
#include <vector>

#include "groma/result.h"
#include "groma/verify.h"
#include "tune_subject.h"

namespace driver {

// Runs the program of --verify before the search. Prints and returns warnings if it is not what the
// search is for.
groma::Result<std::vector<std::string>> look_at_program(const TuneArguments& arguments,
                                                        const Subject& subject);

// Verifies the best mappings and returns the exit code. The fastest one is written to
// verified.mapper in the search's directory. `warnings` come from look_at_program().
int verify_search(const TuneArguments& arguments, const groma::TuneOutcome& outcome,
                  const groma::BestSteps& best, const Subject& subject,
                  const std::string& directory, const std::vector<std::string>& warnings);

// After a search on Legion: measures the start and the best mapping beside the program without a
// mapping, for each application. Returns the exit code.
int compare_without_mapping(const TuneArguments& arguments, const groma::TuneOutcome& outcome,
                            const Subject& subject);

}  // namespace driver
