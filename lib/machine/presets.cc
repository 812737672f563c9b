// Lists the presets for people: their parameters, and every figure with its unit and source.
#include <fmt/format.h>

#include <deque>

#include "groma/machine.h"
#include "machine/figures.h"
#include "machine/parameters.h"

namespace groma {
namespace {

// The units of figures. value_text() writes each in its own way.
enum class Unit { kCount, kFraction, kBytes, kBytesPerSecond, kFlopsPerSecond, kSeconds };

// One line of the list: a figure of NodeFigures, its description and its unit.
struct FigureLine {
  std::string_view what;
  SourcedNumber NodeFigures::*figure;
  Unit unit;
};

// The lines of the list. Every figure of NodeFigures has one.
constexpr FigureLine kLines[] = {
    {"sockets", &NodeFigures::sockets, Unit::kCount},
    {"cores of a socket", &NodeFigures::cores_per_socket, Unit::kCount},
    {"CPU processors", &NodeFigures::cpus, Unit::kCount},
    {"core peak FP64", &NodeFigures::core_flops, Unit::kFlopsPerSecond},
    {"CPU sustained fraction of peak", &NodeFigures::cpu_sustained, Unit::kFraction},
    {"CPU task start", &NodeFigures::cpu_start, Unit::kSeconds},
    {"host memory", &NodeFigures::host_bytes, Unit::kBytes},
    {"core memory bandwidth", &NodeFigures::core_bandwidth, Unit::kBytesPerSecond},
    {"socket memory bandwidth", &NodeFigures::socket_bandwidth, Unit::kBytesPerSecond},
    {"socket to socket bandwidth", &NodeFigures::intersocket_bandwidth, Unit::kBytesPerSecond},
    {"host memory latency, own socket", &NodeFigures::local_latency, Unit::kSeconds},
    {"host memory latency, other socket", &NodeFigures::remote_latency, Unit::kSeconds},
    {"host copy latency", &NodeFigures::host_copy_latency, Unit::kSeconds},
    {"RDMEM", &NodeFigures::rdmem_bytes, Unit::kBytes},
    {"ZCMEM", &NodeFigures::zcmem_bytes, Unit::kBytes},
    {"GPUs", &NodeFigures::gpus, Unit::kCount},
    {"GPU peak FP64", &NodeFigures::gpu_flops, Unit::kFlopsPerSecond},
    {"GPU sustained fraction of peak", &NodeFigures::gpu_sustained, Unit::kFraction},
    {"GPU task start", &NodeFigures::gpu_start, Unit::kSeconds},
    {"GPU memory", &NodeFigures::gpu_bytes, Unit::kBytes},
    {"GPU memory bandwidth", &NodeFigures::gpu_bandwidth, Unit::kBytesPerSecond},
    {"GPU memory latency", &NodeFigures::gpu_latency, Unit::kSeconds},
    {"zero-copy bandwidth of a GPU", &NodeFigures::zero_copy_bandwidth, Unit::kBytesPerSecond},
    {"zero-copy latency of a GPU", &NodeFigures::zero_copy_latency, Unit::kSeconds},
    {"host to GPU bandwidth", &NodeFigures::host_link_bandwidth, Unit::kBytesPerSecond},
    {"GPU to GPU bandwidth, one socket", &NodeFigures::peer_near_bandwidth, Unit::kBytesPerSecond},
    {"GPU to GPU bandwidth, two sockets", &NodeFigures::peer_far_bandwidth, Unit::kBytesPerSecond},
    {"GPU copy latency", &NodeFigures::gpu_copy_latency, Unit::kSeconds},
    {"network ports", &NodeFigures::ports, Unit::kCount},
    {"network bandwidth of a port", &NodeFigures::port_bandwidth, Unit::kBytesPerSecond},
    {"network latency", &NodeFigures::network_latency, Unit::kSeconds},
    {"network latency, GPU memory", &NodeFigures::network_gpu_latency, Unit::kSeconds},
};

// The assertion fails if a figure is added to NodeFigures without a line.
constexpr std::size_t kLinkNames = 4;
static_assert(sizeof(NodeFigures) ==
              std::size(kLines) * sizeof(SourcedNumber) + kLinkNames * sizeof(std::string_view));

// Returns a size in the largest binary unit that gives at least 1, such as "16 GiB".
std::string bytes_text(double bytes) {
  constexpr std::string_view kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < std::size(kUnits); ++unit) bytes /= 1024;
  return fmt::format("{:.4g} {}", bytes, kUnits[unit]);
}

// Returns a figure with its unit, to four digits.
std::string value_text(double value, Unit unit) {
  switch (unit) {
    case Unit::kCount:
    case Unit::kFraction:
      break;
    case Unit::kBytes:
      return bytes_text(value);
    case Unit::kBytesPerSecond:
      return fmt::format("{:.4g} GB/s", value / 1e9);
    case Unit::kFlopsPerSecond:
      return value >= 1e12 ? fmt::format("{:.4g} TFLOP/s", value / 1e12)
                           : fmt::format("{:.4g} GFLOP/s", value / 1e9);
    case Unit::kSeconds:
      return value >= 1e-6 ? fmt::format("{:.4g} us", value * 1e6)
                           : fmt::format("{:.4g} ns", value * 1e9);
  }
  return fmt::format("{:.4g}", value);
}

// Owns the texts to which the string views of the presets point. It lives as long as the program. A
// deque does not move its texts when it grows.
struct PresetList {
  std::deque<std::string> texts;
  std::vector<Preset> presets;
};

// Builds the public description of one machine preset. Appends the texts to which its string views
// point to `texts`.
Preset make_preset(const PresetEntry& entry, std::deque<std::string>* texts) {
  Preset preset{entry.name, entry.summary, preset_parameters(entry.figures), {}};
  for (const FigureLine& line : kLines) {
    const SourcedNumber& figure = entry.figures.*line.figure;
    texts->push_back(value_text(figure.value, line.unit));
    preset.figures.push_back({line.what, texts->back(), figure.source});
  }
  return preset;
}

PresetList make_list() {
  PresetList list;
  for (const PresetEntry& entry : preset_entries()) {
    list.presets.push_back(make_preset(entry, &list.texts));
  }
  return list;
}

}  // namespace

const std::vector<Preset>& machine_presets() {
  static const PresetList list = make_list();
  return list.presets;
}

}  // namespace groma
