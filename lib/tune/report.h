// What a search says of itself when it is over.
#pragma once

#include <optional>
#include <string>

#include "groma/tune.h"

namespace groma::tuning {

// Writes two files beside the journal in this directory. report.txt: start and best, the
// improvements, what differs between start and best. steps.txt: every step with what was asked,
// answered and found out; of a mapping its text, of any other text the lines that are not the
// start's; of a long search the steps that come first.
[[nodiscard]] std::optional<Error> report(const std::string& directory, const Problem& problem,
                                          const Evaluator& evaluator, const TuneOutcome& outcome);

}  // namespace groma::tuning
