// fit: finds the largest problem that fits into the machine's memories under a mapping.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "groma/app.h"
#include "groma/result.h"
#include "groma/simulate.h"
#include "groma/workload.h"

namespace groma {

// Runs a workload under the mapping in question: calls simulate() with one mapper factory.
using RunWorkload = std::function<RunResult(const Workload&)>;

// The result of fit(): the largest problem size that fits into the machine's memories.
struct Fit {
  // A problem size that was run.
  struct TriedSize {
    // The values of the parameters that grow.
    std::vector<AppValue> values;
    RunResult result;
  };
  // The largest size that fits. nullopt if not even the smallest size fits.
  std::optional<TriedSize> fits;
  // The next larger size (of the first parameter), which does not fit. nullopt: the parameters
  // cannot be larger, and the largest size fits.
  std::optional<TriedSize> beyond;
  // The limit of the application or of the runtime that stopped the growth, if the cause was not
  // memory.
  std::string other_bound;
  // True if a run was stopped (RunStatus::kStopped), so that the answer is incomplete.
  bool stopped = false;
};

// Returns the parameters that fit() grows by default: those that differ between the last two sizes
// of the application. Fails with kUnknown if there are none.
Result<std::vector<std::string>> growing_parameters(const Application& app);

// Grows the first of `parameters`, and the others in proportion to their values, until a memory is
// too small. Then it halves the interval; this takes about 20 to 60 runs. All values stay in their
// ranges. It assumes that every size below `fits` fits too.
// Fails on a parameter that the application does not have, on values that do not make a workload,
// and if the application at its own values cannot run for another reason than memory.
// `stop` (null: never) is asked about every millisecond while a workload is made. Once it returns
// true, the answer is incomplete.
Result<Fit> fit(const Application& app, const std::vector<std::string>& parameters,
                const RunWorkload& run, const std::function<bool()>& stop = {});

// Returns the answer as text for a person, which ends with a line end.
std::string draw(const Fit& fit, const Application& app);

}  // namespace groma
