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

// Constants of the model of time that describe neither the machine nor the runtime. They are the
// same for every machine. groma/model_constants.h has their sources and plausible ranges.
struct TimeModel {
  // The smallest transfer of one access of a GPU, in bytes.
  double gpu_sector_bytes = 32;
  // The smallest transfer of one access of a CPU or OMP processor, in bytes.
  double cpu_line_bytes = 64;
  // The factor for the bytes that a GPU reads or writes in scattered accesses outside its
  // framebuffer.
  double host_scatter_factor = 2.3;
  // The factor for the bytes that a GPU updates atomically outside its framebuffer.
  double host_atomic_factor = 4.6;
  // Atomic updates by a GPU in one 128-byte line of memory outside its framebuffer happen one after
  // the other. Each takes this many times the latency with which the GPU reads the memory.
  double host_atomic_turn = 1;
  // The bytes at the beginning of a row with gaps that a core's prefetcher does not fetch in time.
  double unforeseen_bytes = 4096;
  // The number of cache lines for which a core waits at the same time in those first bytes of a
  // row.
  double lines_awaited = 10;
  // How much faster single precision is than double precision.
  double single_precision_speedup = 2;
  // The size of a copy, in bytes, for which the quickest route is chosen.
  double route_bytes = 1 << 20;
  // How many times a copy inside one memory moves each byte.
  double copy_passes = 2;
  friend bool operator==(const TimeModel&, const TimeModel&) = default;
};

// The constants with which a check estimates the time of a run (CheckOptions::estimate). They mean
// the same as in SimulateOptions.
struct EstimateConstants {
  std::optional<RuntimeCosts> costs;
  TimeModel model;
};

// Options of a simulated run.
struct SimulateOptions {
  // The costs of the runtime. nullopt stands for those of the application (Application::runtime)
  // or, if it has none, for the default costs.
  std::optional<RuntimeCosts> costs = {};
  // The constants of the model of time: finite numbers above 0. Any other value makes the run an
  // error.
  TimeModel model = {};
  // The duration of every task and copy varies at random by up to this fraction in both directions.
  // The same seed, application, machine and mapping give the same run.
  // At least 0 and below 1. Any other value makes the run an error.
  double noise = 0;
  std::uint64_t seed = 0;
  // True if the run records its events in RunResult::record.
  bool record = false;
  // Limit on the point tasks; beyond it, the run is an error.
  std::int64_t max_tasks = std::int64_t{1} << 26;
  // Limit on the iterations of each outermost loop of the top-level task. A smaller number makes a
  // short run of the same kind; its times are those of the short run.
  std::int64_t max_iterations = INT64_MAX;
  // Limit on the memory of the run in bytes, without the memory of the mappers. The memory is
  // estimated while it grows; beyond the limit, the run is an error (kTooLarge). Default: 2 GiB.
  std::int64_t max_bytes = std::int64_t{1} << 31;
  // A function that the run calls about every millisecond. If it returns true, the run ends
  // (kStopped).
  std::function<bool()> stop = {};
};

// The way in which a run ended.
enum class RunStatus : std::uint8_t {
  kOk,
  // An answer of the mapper cannot be carried out.
  kMapError,
  // The run cannot go on, because of an error of the application or a deadlock.
  kExecuteError,
  // The run exceeds max_tasks or max_bytes.
  kTooLarge,
  kStopped,
};

// The result of a simulated run.
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
  // The errors that ended the run, which has no time then. The diagnostics have no range;
  // Mapper::describe(origin) names the statement.
  std::vector<Refusal> refusals;
  // The first of these errors, in the words of the real runtime.
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
