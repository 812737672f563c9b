// simulate: the embedded runtime. It runs an application on a machine under a mapper, in simulated
// time. It calls the mapper's hooks as Legion's adapter does and carries out the answers. The
// result says how long the run takes and where the time goes, or why it cannot run.
// docs/simulator.md says what is modelled and what is not.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "groma/machine.h"
#include "groma/mapper.h"
#include "groma/run_record.h"
#include "groma/validate.h"
#include "groma/workload.h"

namespace groma {

// Options of a run.
struct SimulateOptions {
  // nullopt: the costs of the application (Application::runtime), or else the defaults.
  std::optional<RuntimeCosts> costs = {};
  // The duration of every task and copy varies at random by up to this fraction in both directions.
  // The same seed, application, machine and mapping give the same run.
  // At least 0 and below 1. Any other value makes the run an error.
  double noise = 0;
  std::uint64_t seed = 0;
  // Fills in RunResult::record.
  bool record = false;
  // Limit on the point tasks; beyond it, the run is an error.
  std::int64_t max_tasks = std::int64_t{1} << 26;
  // Limit on the iterations of each outermost loop of the top-level task. A smaller number makes a
  // short run of the same kind; its times are those of the short run.
  std::int64_t max_iterations = INT64_MAX;
  // Limit on the memory of the run in bytes, without the memory of the mappers. The memory is
  // estimated while it grows; beyond the limit, the run is an error (kTooLarge). Default: 2 GiB.
  std::int64_t max_bytes = std::int64_t{1} << 31;
  // Asked about every millisecond, whatever the run does. Returning true ends the run (kStopped).
  std::function<bool()> stop = {};
};

// How a run ended.
enum class RunStatus : std::uint8_t {
  kOk,
  kMapError,      // an answer of the mapper cannot be carried out
  kExecuteError,  // the run cannot go on: an error of the application, or a deadlock
  kTooLarge,      // the run exceeds max_tasks or max_bytes
  kStopped,
};

// The result of a run.
struct RunResult {
  RunStatus status = RunStatus::kOk;
  // The simulated time of the phase that the metric names, or of the whole run.
  double seconds = 0;
  // The metric's work divided by `seconds`.
  double throughput = 0;
  std::string unit;
  // The simulated time of the whole run.
  double total_seconds = 0;
  // The number of tasks that ran.
  std::int64_t tasks = 0;
  std::int64_t copies = 0;
  // The bytes that the copies moved.
  std::int64_t moved_bytes = 0;
  // The reasons why there is no time. The diagnostics have no range; Mapper::describe(origin) names
  // the statement.
  std::vector<Refusal> refusals;
  // The first refusal, in the words of the real runtime.
  std::string raw;
  // The events of the run. Set with SimulateOptions::record.
  std::shared_ptr<const RunRecord> record;

  bool ok() const { return status == RunStatus::kOk; }
};

// Makes the mapper object of a processor. Called once for each processor that needs one.
using MapperFactory = std::function<std::unique_ptr<Mapper>(const Processor&)>;

// Runs the workload. Calls share no state, so any number may run at once, from any thread, if
// `make` allows it.
RunResult simulate(const Workload& workload, std::shared_ptr<const Machine> machine,
                   const MapperFactory& make, const SimulateOptions& options = {});

}  // namespace groma
