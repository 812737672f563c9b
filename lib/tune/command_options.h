// Checks the options of the evaluator that runs a command.
#pragma once

#include <cstdint>
#include <optional>

#include "groma/evaluators.h"

namespace groma::tuning {

inline constexpr std::int64_t kMaxCommandRuns = 1000;  // limit of warm-up runs, and of repeats

// Returns an error if the options are not valid. The metric is not checked.
std::optional<Error> why_invalid(const CommandEvaluatorOptions& options);

}  // namespace groma::tuning
