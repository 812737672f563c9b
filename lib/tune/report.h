// What a search says of itself when it is over.
#pragma once

#include <string>

#include "groma/tune.h"

namespace groma::tuning {

// Start and best, what differs between them, and every step with what was asked, answered and found
// out; of a long search's steps those that the journal begins with and its improvements.
std::string report(const std::string& journal, const Problem& problem, const Evaluator& evaluator,
                   const TuneOutcome& outcome);

}  // namespace groma::tuning
