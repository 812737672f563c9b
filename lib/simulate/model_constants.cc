// The table of the constants that decide simulated times, and the settings of runs in which some of
// them have other values.
#include "groma/model_constants.h"

#include <fmt/format.h>

#include <utility>
#include <variant>

#include "machine/figures.h"
#include "machine/node.h"

namespace groma {
namespace {

// The member of a struct that holds a constant. A machine figure has its value and source in
// machine/figures.cc. The constants of RuntimeCosts and TimeModel have the default values of these
// structs.
using Place =
    std::variant<SourcedNumber NodeFigures::*, double RuntimeCosts::*, double TimeModel::*>;

// One constant in the table. `scale` is the size of `unit` in bytes, seconds and so on.
struct Row {
  std::string_view name;
  Place place;
  std::string_view unit;
  double scale;
  // The lowest and the highest plausible value of the constant, counted in `unit`.
  double lowest, highest;
  Confidence confidence;
  std::string_view range_source;
  // Where the value comes from. Empty: where the machine figure says that it comes from.
  std::string_view source = {};
};

constexpr double kGBps = 1e9, kMicrosecond = 1e-6, kNanosecond = 1e-9;
constexpr Confidence kLow = Confidence::kLow, kMedium = Confidence::kMedium,
                     kHigh = Confidence::kHigh;

constexpr Row kRows[] = {
    // The machine.
    {"core peak FP64", &NodeFigures::core_flops, "GFLOP/s", kGBps, 32, 54.4, kHigh,
     "2.0 GHz (AVX base clock) to 3.4 GHz (one core's turbo clock)"},
    {"CPU sustained fraction of peak", &NodeFigures::cpu_sustained, "", 1, 0.5, 0.9, kMedium,
     "a simple loop nest to a good library"},
    {"CPU task start", &NodeFigures::cpu_start, "us", kMicrosecond, 1, 20, kLow,
     "Realm alone to a Legion task with its events"},
    {"core memory bandwidth", &NodeFigures::core_bandwidth, "GB/s", kGBps, 8, 14, kMedium,
     "reading and writing to copying"},
    {"socket memory bandwidth", &NodeFigures::socket_bandwidth, "GB/s", kGBps, 40, 59.5, kMedium,
     "compiled code to non-temporal stores"},
    {"socket to socket bandwidth", &NodeFigures::intersocket_bandwidth, "GB/s", kGBps, 12, 30, kLow,
     "one to two QPI links of the 8 GT/s that the E5-2640 v4 has, 60 to 90 % usable"},
    {"host memory latency, own socket", &NodeFigures::local_latency, "ns", kNanosecond, 75, 110,
     kMedium, "idle to loaded"},
    {"host memory latency, other socket", &NodeFigures::remote_latency, "ns", kNanosecond, 115, 180,
     kMedium, "idle to loaded"},
    {"host copy latency", &NodeFigures::host_copy_latency, "us", kMicrosecond, 0.5, 5, kMedium,
     "half to five times Realm's estimate"},
    {"GPU peak FP64", &NodeFigures::gpu_flops, "TFLOP/s", 1e12, 4.0, 4.7, kHigh,
     "base clock (1,126 MHz) to boost clock"},
    {"GPU sustained fraction of peak", &NodeFigures::gpu_sustained, "", 1, 0.5, 0.95, kLow,
     "compiled kernels and small tiles (CSCS measured 0.71 at a moderate size) to large tiles"},
    {"GPU task start", &NodeFigures::gpu_start, "us", kMicrosecond, 2.2, 20, kLow,
     "a kernel in a full queue (CSCS) to a Legion point task with its events"},
    {"GPU memory bandwidth", &NodeFigures::gpu_bandwidth, "GB/s", kGBps, 450, 580, kMedium,
     "62 to 79 % of the peak, the range of copies and STREAM kernels on GPUs with HBM2"},
    {"GPU memory latency", &NodeFigures::gpu_latency, "ns", kNanosecond, 300, 800, kMedium,
     "idle to loaded"},
    {"zero-copy bandwidth of a GPU", &NodeFigures::zero_copy_bandwidth, "GB/s", kGBps, 5, 12,
     kMedium,
     "two GPUs behind one switch share its uplink on many boards; at most the copy's bandwidth"},
    {"zero-copy latency of a GPU", &NodeFigures::zero_copy_latency, "us", kMicrosecond, 0.6, 2,
     kMedium, "own socket to loaded link"},
    {"host to GPU bandwidth", &NodeFigures::host_link_bandwidth, "GB/s", kGBps, 6, 12.6, kMedium,
     "two GPUs that share one uplink to the measured copy back"},
    {"GPU to GPU bandwidth, one socket", &NodeFigures::peer_near_bandwidth, "GB/s", kGBps, 9, 13,
     kMedium, "under one root port to under one switch"},
    {"GPU to GPU bandwidth, two sockets", &NodeFigures::peer_far_bandwidth, "GB/s", kGBps, 3, 9,
     kLow, "through the host where QPI refuses peer traffic, to peer copies over QPI"},
    {"GPU copy latency", &NodeFigures::gpu_copy_latency, "us", kMicrosecond, 4, 20, kMedium,
     "a copy in a full queue to one with Realm's bookkeeping of several fragments"},
    // The runtime.
    {"issue_s", &RuntimeCosts::issue_s, "us", kMicrosecond, 1, 20, kLow, "a fifth to four times",
     "recalled: Legion, an index launch"},
    {"map_s", &RuntimeCosts::map_s, "us", kMicrosecond, 50, 1000, kLow,
     "few regions and no copies to the upper end of what is reported",
     "recalled: Legion's analysis of a task without tracing, 300 to 1,000 us"},
    {"replay_s", &RuntimeCosts::replay_s, "us", kMicrosecond, 5, 100, kLow,
     "half the value to the upper end of what is reported (50 to 100 us)",
     "recalled: Legion's replay of a traced task, over several runtime processors"},
    {"future_s", &RuntimeCosts::future_s, "us", kMicrosecond, 5, 50, kLow, "a quarter to 2.5 times",
     "recalled: Legion, waiting for a future"},
    {"copy_s", &RuntimeCosts::copy_s, "us", kMicrosecond, 1, 20, kLow,
     "Realm's estimate for a channel alone to several fragments",
     "published: Realm's sources, estimates for a channel and a fragment, with its event"},
    // The model.
    {"gpu_sector_bytes", &TimeModel::gpu_sector_bytes, "bytes", 1, 32, 70, kMedium,
     "a sector to two (the DRAM's access granularity), and the 68 that scattered reads of 64 MiB "
     "cost "
     "on an H200",
     "published: NVIDIA, an L2 sector has 32 bytes"},
    {"cpu_line_bytes", &TimeModel::cpu_line_bytes, "bytes", 1, 64, 128, kHigh,
     "a line to two (the adjacent-line prefetcher)", "published: Intel, a cache line has 64 bytes"},
    {"host_scatter_factor", &TimeModel::host_scatter_factor, "", 1, 0.1, 6, kLow,
     "small tables, which the L1 caches hold (measured on an H200), to one access of 4 bytes in 19 "
     "ns (a published measurement of random reads over PCIe 3.0 gives 0.2 GiB/s, recalled)",
     "measured: benchmarks/gpu_figures.cu on an H200, 701 million reads a second in 64 MiB"},
    {"host_atomic_factor", &TimeModel::host_atomic_factor, "", 1, 3.3, 6.6, kMedium,
     "100 to 50 million updates a second at 10.5 GB/s; 4.1 was measured on an H200",
     "recalled: 50 to 100 million updates a second over PCIe 3.0; the value is 71 million (their "
     "geometric mean) of 32 bytes at 10.5 GB/s"},
    {"host_atomic_turn", &TimeModel::host_atomic_turn, "", 1, 0.7, 1.3, kMedium,
     "circuit's distribute_charge (0.75) to scattered updates of 4 KiB (1.2), both measured on an "
     "H200",
     "measured: on an H200, between the two ends of the range"},
    {"unforeseen_bytes", &TimeModel::unforeseen_bytes, "bytes", 1, 1024, 8192, kMedium,
     "a quarter to twice", "measured: `rows` of benchmarks/simulate_benchmark.cc"},
    {"lines_awaited", &TimeModel::lines_awaited, "lines", 1, 8, 16, kMedium,
     "the line buffers that other loads leave, to those with the L2's",
     "published: Intel's and AMD's cores have 10 to 12 line buffers"},
    {"single_precision_speedup", &TimeModel::single_precision_speedup, "", 1, 1, 2, kMedium,
     "kernels that issue instructions of other kinds do not gain",
     "published: NVIDIA Tesla P100, 9.3 and 4.7 TFLOP/s"},
    {"route_bytes", &TimeModel::route_bytes, "bytes", 1, 4096, 16777216, kLow,
     "small to large copies", "chosen: 1 MiB"},
    {"copy_passes", &TimeModel::copy_passes, "", 1, 2, 3, kMedium,
     "with the read of the target's lines before they are written",
     "chosen: a copy reads and writes"},
};

// All constants of a model setting, in the three structs that hold them.
struct AllConstants {
  NodeFigures figures = default_figures();
  RuntimeCosts costs;
  TimeModel model;

  double& at(const Place& place) {
    if (const auto* figure = std::get_if<SourcedNumber NodeFigures::*>(&place)) {
      return (figures.**figure).value;
    }
    if (const auto* cost = std::get_if<double RuntimeCosts::*>(&place)) return costs.**cost;
    return model.*std::get<double TimeModel::*>(place);
  }
};

ConstantGroup group_of(const Place& place) {
  if (std::holds_alternative<SourcedNumber NodeFigures::*>(place)) return ConstantGroup::kMachine;
  return std::holds_alternative<double RuntimeCosts::*>(place) ? ConstantGroup::kRuntime
                                                               : ConstantGroup::kModel;
}

std::vector<ModelConstant> make_constants() {
  AllConstants parts;
  std::vector<ModelConstant> constants;
  for (const Row& row : kRows) {
    std::string_view source = row.source;
    if (source.empty()) {
      source = (default_figures().*std::get<SourcedNumber NodeFigures::*>(row.place)).source;
    }
    constants.push_back({row.name, group_of(row.place), row.unit, parts.at(row.place) / row.scale,
                         row.lowest, row.highest, row.confidence, source, row.range_source});
  }
  return constants;
}

}  // namespace

std::string_view name_of(Confidence confidence) {
  switch (confidence) {
    case Confidence::kLow:
      return "low";
    case Confidence::kMedium:
      return "medium";
    case Confidence::kHigh:
      break;
  }
  return "high";
}

const std::vector<ModelConstant>& model_constants() {
  static const std::vector<ModelConstant> constants = make_constants();
  return constants;
}

// Builds the node of the default preset from the changed figures. Machine::make checks them.
Result<ModelSetting> model_setting(std::span<const ConstantChange> changes) {
  AllConstants parts;
  for (const ConstantChange& change : changes) {
    if (change.constant >= std::size(kRows)) {
      return Error{Error::Code::kMalformed, fmt::format("there is no constant {}; there are {}",
                                                        change.constant, std::size(kRows))};
    }
    const Row& row = kRows[change.constant];
    parts.at(row.place) = change.value * row.scale;
  }
  const PresetEntry& preset = preset_entries().front();
  Result<Machine> machine =
      Machine::make(std::string(preset.name), std::string(preset.summary),
                    {make_node(parts.figures, default_counts(parts.figures))}, {0});
  if (!machine.ok()) return machine.error();
  return ModelSetting{std::make_shared<const Machine>(*std::move(machine)), parts.costs,
                      parts.model};
}

}  // namespace groma
