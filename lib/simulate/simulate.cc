// simulate(): checks the options, cuts the application's regions into cells, and runs the engine.
#include "groma/simulate.h"

#include <utility>

#include "base/budget.h"
#include "base/one_diagnostic.h"
#include "simulate/engine.h"

namespace groma {

// Returns the result of one simulated run. If the run cannot start, the result holds one refusal
// that says why. It holds none if `options.stop` ended the preparation.
RunResult simulate(const Workload& workload, std::shared_ptr<const Machine> machine,
                   const MapperFactory& make, const SimulateOptions& options) {
  Budget budget(options.stop);
  sim::SpacesFailure failure;
  const auto spaces = sim::Spaces::make(workload.data(), options.max_bytes, budget, failure);
  if (spaces) {
    failure.why = sim::why_too_large(*machine, spaces->bytes(), options.max_bytes);
    if (!failure.why.empty()) failure.status = RunStatus::kTooLarge;
  }
  const bool bad_noise = !(options.noise >= 0 && options.noise < 1);
  if (bad_noise) failure = {RunStatus::kExecuteError, "the noise is not a fraction below 1"};
  if (!spaces || !failure.why.empty()) {
    RunResult result;
    result.status = failure.status;
    if (failure.status == RunStatus::kStopped) return result;
    Diagnostic diagnostic = one_diagnostic(DiagId::kCannotRun, workload.name(), failure.why);
    if (failure.status == RunStatus::kTooLarge) diagnostic.help(std::string(sim::kHelpWithMemory));
    result.refusals.push_back({std::move(diagnostic), {}});
    result.raw = failure.why;
    return result;
  }
  return sim::Engine(workload.data(), *spaces, std::move(machine), make, options).run();
}

}  // namespace groma
