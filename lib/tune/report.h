// Writes the reports of a finished search for people to read.
#pragma once

#include <optional>
#include <string>

#include "groma/tune.h"

namespace groma::tuning {

// Reads the journal in the directory and writes two files beside it.
// - report.txt: the start and the best text, the Pareto front, the improvements, and the difference
//   between start and best.
// - steps.txt: every step with its questions, replies and results. A step of a mapping shows its
//   text; a step of any other text shows the lines that differ from the start. A long search shows
//   only its first steps.
[[nodiscard]] std::optional<Error> write_reports(const std::string& directory,
                                                 const SearchProblem& problem,
                                                 const Evaluator& evaluator,
                                                 const TuneOutcome& outcome);

}  // namespace groma::tuning
