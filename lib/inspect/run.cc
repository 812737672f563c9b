// run, and its result as text and JSON.
#include "groma/run.h"

#include <fmt/format.h>

#include <array>

#include "groma/program_mapper.h"
#include "inspect/json.h"
#include "inspect/locate.h"

namespace groma {
namespace {

// "1.23 ms"
std::string seconds_words(double seconds) {
  struct Unit {
    double size;
    std::string_view name;
  };
  constexpr std::array<Unit, 4> kUnits = {{{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}}};
  for (const Unit& unit : kUnits) {
    if (seconds >= unit.size) return fmt::format("{:.3g} {}", seconds / unit.size, unit.name);
  }
  return fmt::format("{:.3g} s", seconds);
}

// "4.88 Tflop/s"
std::string rate_words(double rate, std::string_view unit) {
  struct Prefix {
    double size;
    std::string_view name;
  };
  constexpr std::array<Prefix, 5> kPrefixes = {
      {{1e15, "P"}, {1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}}};
  for (const Prefix& prefix : kPrefixes) {
    if (rate >= prefix.size) {
      return fmt::format("{:.3g} {}{}", rate / prefix.size, prefix.name, unit);
    }
  }
  return fmt::format("{:.3g} {}", rate, unit);
}

}  // namespace

RunResult run(const BoundProgram& bound, const Workload& workload, const SimulateOptions& options,
              Diagnostics& diags, LogSink* log) {
  const auto shared = ProgramMapper::share(bound, log);
  const auto machine = bound.shared_machine();
  RunResult result = simulate(
      workload, machine,
      [&](const Processor& local) {
        return std::make_unique<ProgramMapper>(shared, MapperSite{machine, local, {}, log});
      },
      options);
  for (const Refusal& refusal : result.refusals) add_located(bound.program(), refusal, diags);
  return result;
}

RunResult run_default(std::shared_ptr<const Machine> machine, const Workload& workload,
                      const SimulateOptions& options, Diagnostics& diags) {
  RunResult result = simulate(
      workload, machine,
      [&](const Processor& local) {
        return std::make_unique<DefaultMapper>(MapperSite{machine, local});
      },
      options);
  for (const Refusal& refusal : result.refusals) add_unlocated(refusal, diags);
  return result;
}

std::string to_json(const RunResult& result, const Diagnostics& diags) {
  OrderedJson json;
  json["status"] = result.ok() ? "ok" : "error";
  if (result.ok()) {
    json["seconds"] = result.seconds;
    json["throughput"] = result.throughput;
    json["unit"] = result.unit;
    json["runtime"] = "simulator";
    json["total_seconds"] = result.total_seconds;
    json["tasks"] = result.tasks;
    json["copies"] = result.copies;
  } else {
    json["stage"] = result.status == RunStatus::kMapError ? "map" : "execute";
    json["raw"] = result.raw;
  }
  json["diagnostics"] = json_of(diags);
  return json_line(json);
}

std::string draw(const RunResult& result, const Workload& workload, const Machine& machine) {
  if (!result.ok()) return {};
  return fmt::format("{} on {}: {} simulated, {}\n{} tasks, {} copies, {} in all\n",
                     workload.name(), machine.name(), seconds_words(result.seconds),
                     rate_words(result.throughput, result.unit), result.tasks, result.copies,
                     seconds_words(result.total_seconds));
}

}  // namespace groma
