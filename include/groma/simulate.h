// simulate: the embedded runtime. Runs an application on a machine under a mapper, in simulated
// time: it calls the mapper's hooks as Legion's adapter does, carries out what they answer, and
// says how long the run takes, where the time goes, or why it cannot run. docs/simulator.md says
// what it models and what it does not.
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

struct SimulateOptions {
  // Unless given those of the application (Application::runtime), else the defaults.
  std::optional<RuntimeCosts> costs = {};
  // Every task and copy takes up to this fraction longer or shorter, as drawn from the seed. The
  // same seed, application, machine and mapping give the same run.
  double noise = 0;  // from 0, below 1; else the run is an error
  std::uint64_t seed = 0;
  bool record = false;                             // fill RunResult::record
  std::int64_t max_tasks = std::int64_t{1} << 26;  // point tasks; beyond, the run is an error
  // Of each loop of the top-level task that is in no other: fewer make a short run of the same
  // kind, whose times are its own.
  std::int64_t max_iterations = INT64_MAX;
  // Memory of the run in bytes, as estimated while it grows, without what mappers hold; beyond, the
  // run is an error (kTooLarge). Default: 2 GiB.
  std::int64_t max_bytes = std::int64_t{1} << 31;
  // Asked about every millisecond, whatever the run does; true ends it (kStopped).
  std::function<bool()> stop = {};
};

enum class RunStatus : std::uint8_t {
  kOk,
  kMapError,      // an answer of the mapper cannot be carried out
  kExecuteError,  // the run itself cannot go on: the application's fault, or everything waits
  kTooLarge,      // it goes beyond max_tasks or max_bytes
  kStopped,
};

// What a run leaves behind.
struct RunResult {
  RunStatus status = RunStatus::kOk;
  double seconds = 0;     // of the phase that the metric names, or all; simulated
  double throughput = 0;  // the metric's work by these seconds
  std::string unit;
  double total_seconds = 0;
  std::int64_t tasks = 0;  // that ran
  std::int64_t copies = 0;
  std::int64_t moved_bytes = 0;  // by them
  // Why there is no time. The diagnostics have no place; Mapper::describe(origin) says whose they
  // are.
  std::vector<Refusal> refusals;
  // The first of them in the words of the real runtime.
  std::string raw;
  std::shared_ptr<const RunRecord> record;  // with SimulateOptions::record

  bool ok() const { return status == RunStatus::kOk; }
};

// Makes the mapper object of a processor; asked once for each processor that needs one.
using MapperFactory = std::function<std::unique_ptr<Mapper>(const Processor&)>;

// Any number at once, from any threads, as far as `make` allows it. Everything is the call's own.
RunResult simulate(const Workload& workload, std::shared_ptr<const Machine> machine,
                   const MapperFactory& make, const SimulateOptions& options = {});

}  // namespace groma
