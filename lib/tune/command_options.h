// Checks the options of the evaluator that runs a command.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "groma/evaluators.h"

namespace groma::tuning {

// Limit on the number of warm-up runs, and on the number of measured runs.
inline constexpr std::int64_t kMaxCommandRuns = 1000;

// Returns an error if the options are not valid. The metric is not checked.
std::optional<Error> why_invalid(const CommandEvaluatorOptions& options);

// Returns how each worker is reached: a shell command, or "" for a worker on this computer. Numbers
// in CommandEvaluatorOptions::workers are expanded. At least one element; more than kMaxWorkers + 1
// are cut off.
std::vector<std::string> connections_of(const std::vector<std::string>& workers);

}  // namespace groma::tuning
