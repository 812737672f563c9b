// simulate(): checks the options, cuts the application's regions into cells, and runs the engine.
#include "groma/simulate.h"

#include <cmath>
#include <string>
#include <utility>

#include "base/budget.h"
#include "base/one_diagnostic.h"
#include "simulate/engine.h"

namespace groma {
namespace {

// Returns why a run cannot have these options, or an empty string if it can.
std::string why_bad(const SimulateOptions& options) {
  if (!(options.noise >= 0 && options.noise < 1)) return "the noise is not a fraction below 1";
  const TimeModel& model = options.model;
  for (const double value :
       {model.gpu_sector_bytes, model.cpu_line_bytes, model.host_scatter_factor,
        model.host_atomic_factor, model.host_atomic_turn, model.unforeseen_bytes,
        model.lines_awaited, model.single_precision_speedup, model.route_bytes,
        model.copy_passes}) {
    if (!std::isfinite(value) || value <= 0) {
      return "a constant of the time model is not a finite number above 0";
    }
  }
  return {};
}

}  // namespace

// Returns the result of one simulated run. If the run cannot start, the result holds one refusal
// that says why. The result holds no refusal if `options.stop` ended the preparation.
RunResult simulate(const Workload& workload, std::shared_ptr<const Machine> machine,
                   const MapperFactory& make, const SimulateOptions& options) {
  Budget budget(options.stop);
  sim::SpacesFailure failure;
  const auto spaces = sim::DataSpaces::make(workload.data(), options.max_bytes, budget, failure);
  if (spaces) {
    failure.why = sim::why_machine_too_large(*machine, spaces->bytes(), options.max_bytes);
    if (!failure.why.empty()) failure.status = RunStatus::kTooLarge;
  }
  if (std::string why = why_bad(options); !why.empty()) {
    failure = {RunStatus::kExecuteError, std::move(why)};
  }
  if (!spaces || !failure.why.empty()) {
    RunResult result;
    result.status = failure.status;
    if (failure.status == RunStatus::kStopped) return result;
    Diagnostic diagnostic =
        diagnostic_without_source(DiagId::kCannotRun, workload.name(), failure.why);
    if (failure.status == RunStatus::kTooLarge) diagnostic.help(std::string(sim::kHelpWithMemory));
    result.refusals.push_back({std::move(diagnostic), {}});
    result.raw = failure.why;
    return result;
  }
  return sim::Engine(workload.data(), *spaces, std::move(machine), make, options).run();
}

}  // namespace groma
