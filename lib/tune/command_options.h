// Checks the options of the evaluator that runs a command.
#pragma once

#include <cstdint>
#include <optional>

#include "groma/evaluators.h"

namespace groma::tuning {

// Limit on the number of warm-up runs, and on the number of measured runs.
inline constexpr std::int64_t kMaxCommandRuns = 1000;

// Returns an error if the options are not valid. The metric is not checked.
std::optional<Error> why_invalid(const CommandEvaluatorOptions& options);

}  // namespace groma::tuning
