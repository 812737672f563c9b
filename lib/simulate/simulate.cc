// simulate.
#include "groma/simulate.h"

#include "base/one_diagnostic.h"
#include "simulate/engine.h"

namespace groma {

RunResult simulate(const Workload& workload, std::shared_ptr<const Machine> machine,
                   const MapperFactory& make, const SimulateOptions& options) {
  std::string why;
  const auto spaces = sim::Spaces::make(workload.data(), why);
  const bool bad_noise = !(options.noise >= 0 && options.noise < 1);
  if (bad_noise) why = "the noise is no fraction below 1";
  if (!spaces || bad_noise) {
    RunResult result;
    result.status = RunStatus::kExecuteError;
    result.refusals.push_back({one_diagnostic(DiagId::kCannotRun, workload.name(), why), {}});
    result.raw = why;
    return result;
  }
  return sim::Engine(workload.data(), *spaces, std::move(machine), make, options).run();
}

}  // namespace groma
