// calibrate(): runs the measurements for the given time and makes a machine of their medians.
#include "groma/calibrate.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>

#include "base/median.h"
#include "calibrate/calibrate_topology.h"
#include "calibrate/gpu_figures.h"
#include "calibrate/measurement.h"
#include "io/local.h"
#include "machine/node.h"

namespace groma {
namespace {

using calibration::HostRates;
using calibration::Measurement;
using calibration::TimedLoop;

constexpr int kLeastRounds = 5, kMostRounds = 31;

// Runs rounds until the time is over. Returns the error if one occurs, or kStopped.
std::optional<Error> run_rounds(Measurement& measurement, const CalibrationOptions& options) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  for (int round = 0; round < kMostRounds; ++round) {
    const double passed = std::chrono::duration<double>(Clock::now() - begin).count();
    const double by_rounds = static_cast<double>(round) / kMostRounds;
    const double by_time = std::min(passed / options.seconds,
                                    static_cast<double>(round) / static_cast<double>(kLeastRounds));
    if (options.on_progress) options.on_progress(std::min(1.0, std::max(by_rounds, by_time)));
    if (round >= kLeastRounds && passed >= options.seconds) break;
    if (options.stop && options.stop())
      return Error{Error::Code::kStopped, "the calibration was stopped"};
    if (std::optional<Error> error = measurement.run_round(round)) return error;
  }
  return std::nullopt;
}

// Returns the entry of the record of measurements for a figure of the node that was not measured on
// this computer, so that the node keeps the value that it had. The source of the entry says whether
// the value is that of the default preset. If the figure describes the way between NUMA nodes and
// the computer has only one NUMA node, the source says that, too.
MeasuredFigure kept_figure(const FigureLine& line, const SourcedNumber& figure,
                           bool has_more_nodes) {
  std::string source(figure.source);
  const bool is_preset = figure.source == (default_figures().*line.figure).source;
  const bool between = line.figure == &NodeFigures::intersocket_bandwidth ||
                       line.figure == &NodeFigures::remote_latency;
  if (is_preset) {
    source = fmt::format("as `p100x4`{}: {}",
                         between && !has_more_nodes ? ", since there is one NUMA node" : "",
                         figure.source);
  }
  return {std::string(line.what), std::string(unit_name(line.unit)),
          figure.value,           figure.value,
          figure.value,           0,
          std::move(source)};
}

// Returns true if the figure describes a GPU or a network, and the computer has no such part.
bool is_of_gpu_or_network(const FigureLine& line, const NodeFigures& figures) {
  constexpr SourcedNumber NodeFigures::*kGpu[] = {
      &NodeFigures::zcmem_bytes,         &NodeFigures::gpu_flops,
      &NodeFigures::gpu_sustained,       &NodeFigures::gpu_start,
      &NodeFigures::gpu_bytes,           &NodeFigures::gpu_bandwidth,
      &NodeFigures::gpu_latency,         &NodeFigures::zero_copy_bandwidth,
      &NodeFigures::zero_copy_latency,   &NodeFigures::host_link_bandwidth,
      &NodeFigures::peer_near_bandwidth, &NodeFigures::peer_far_bandwidth,
      &NodeFigures::gpu_copy_latency};
  constexpr SourcedNumber NodeFigures::*kNetwork[] = {&NodeFigures::port_bandwidth,
                                                      &NodeFigures::network_latency,
                                                      &NodeFigures::network_gpu_latency};
  const auto has = [&line](const auto& list) {
    return std::find(std::begin(list), std::end(list), line.figure) != std::end(list);
  };
  return (figures.gpus.value == 0 && has(kGpu)) || (figures.ports.value == 0 && has(kNetwork));
}

// Replaces the rates of the node that make_node() derives from other figures by the measured rates.
void set_rates(const HostRates& rates, NodeType& node) {
  const auto is_host = [](MemKind kind) { return kind != MemKind::kFbmem; };
  for (Channel& channel : node.channels) {
    if (!is_host(channel.from) || !is_host(channel.to)) continue;
    if (channel.scope == Channel::Scope::kLocal)
      channel.bandwidth_bytes_per_s = rates.copy_bytes_per_s;
    if (channel.scope == Channel::Scope::kPeer && rates.far_copy_bytes_per_s > 0)
      channel.bandwidth_bytes_per_s = rates.far_copy_bytes_per_s;
  }
  for (Affinity& affinity : node.affinities) {
    if (affinity.processor == ProcKind::kCpu)
      affinity.gap_bandwidth_bytes_per_s = rates.gap_bytes_per_s;
  }
}

// Returns the entry of a finished probe for the record of measurements.
MeasuredFigure figure_of(const TimedLoop& probe) {
  return measured_figure(probe.what, std::string(unit_name(probe.unit)), probe.repeats,
                         probe.source);
}

// Returns today's date (UTC).
std::string today() {
  const std::time_t now = std::time(nullptr);
  return fmt::format("{:%Y-%m-%d}", fmt::gmtime(now));
}

}  // namespace

MeasuredFigure measured_figure(std::string what, std::string unit, std::vector<double> repeats,
                               std::string source) {
  GROMA_REQUIRE(!repeats.empty(), "measured_figure() needs at least one repeat");
  std::sort(repeats.begin(), repeats.end());
  const std::size_t count = repeats.size();
  return {std::move(what),
          std::move(unit),
          median(repeats),
          repeats[count / 4],
          repeats[count - 1 - count / 4],
          static_cast<std::int64_t>(count),
          std::move(source)};
}

std::string figure_words(const MeasuredFigure& figure, double value) {
  for (const FigureUnit unit : {FigureUnit::kRatio, FigureUnit::kBytes, FigureUnit::kBytesPerSecond,
                                FigureUnit::kFlopsPerSecond, FigureUnit::kSeconds}) {
    if (unit_name(unit) == figure.unit) return figure_text(value, unit);
  }
  return fmt::format("{:.4g} {}", value, figure.unit);
}

Result<Calibration> calibrate(const CalibrationOptions& options) {
  const Topology topology = load_hwloc_topology();
  if (topology == nullptr) {
    return Error{Error::Code::kUnreadable, "hwloc cannot see this computer",
                 "describe it in a JSON file (docs/machines.md)"};
  }
  return calibration::calibrate_topology(topology.get(), options);
}

Result<Calibration> calibration::calibrate_topology(hwloc_topology_t topology,
                                                    const CalibrationOptions& options) {
  LocalComputer computer = describe_computer(topology);
  Measurement measurement(topology);
  if (std::optional<Error> error = measurement.prepare()) return *error;
  if (std::optional<Error> error = run_rounds(measurement, options)) return *error;
  NodeFigures& figures = computer.figures;
  std::vector<MeasuredFigure> record;
  // The figures of the node that have an entry in the record.
  std::vector<SourcedNumber NodeFigures::*> recorded;
  const auto use = [&](const MeasuredFigure& figure, SourcedNumber NodeFigures::*member) {
    record.push_back(figure);
    if (member == nullptr) return;
    figures.*member = {figure.value, "measured"};
    recorded.push_back(member);
  };
  HostRates rates;
  for (const TimedLoop& probe : measurement.probes()) {
    const MeasuredFigure figure = figure_of(probe);
    if (probe.rate != nullptr) rates.*probe.rate = figure.value;
    use(figure, probe.figure);
  }
  if (options.task_start) use(*options.task_start, &NodeFigures::cpu_start);
  if (options.gpu) for_each_gpu_figure(*options.gpu, use);
  record.push_back({"share of the time for which the measurements had a core", "1",
                    measurement.share_of_time_on_core(), measurement.share_of_time_on_core(),
                    measurement.share_of_time_on_core(), 1,
                    "measured: processor time by passed time; other programs take the rest"});
  for (const FigureLine& line : figure_lines()) {
    if (std::find(recorded.begin(), recorded.end(), line.figure) != recorded.end()) continue;
    if (is_of_gpu_or_network(line, figures)) continue;
    record.push_back(kept_figure(line, figures.*line.figure, measurement.numa_nodes() > 1));
  }
  NodeType node = make_node(figures, default_counts(figures));
  set_rates(rates, node);
  Result<Machine> machine = Machine::make(
      "local",
      fmt::format("this computer: {}; figures measured on {} by `groma machines calibrate`",
                  computer.parts, today()),
      {std::move(node)}, {0});
  if (machine) machine = machine->with_measurement({computer.identity, std::move(record)});
  if (!machine) return machine.error();
  return Calibration{std::move(machine).value(), measurement.share_of_time_on_core()};
}

}  // namespace groma
