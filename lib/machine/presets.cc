// Lists the presets for people: their parameters, and every figure with its unit and source.
#include <fmt/format.h>

#include <deque>

#include "groma/machine.h"
#include "machine/figures.h"
#include "machine/parameters.h"

namespace groma {
namespace {

// The lines of the list of a node's figures. Every figure of NodeFigures has one.
constexpr FigureLine kLines[] = {
    {"sockets", &NodeFigures::sockets, FigureUnit::kRatio},
    {"cores of a socket", &NodeFigures::cores_per_socket, FigureUnit::kRatio},
    {"CPU processors", &NodeFigures::cpus, FigureUnit::kRatio},
    {"core peak FP64", &NodeFigures::core_flops, FigureUnit::kFlopsPerSecond},
    {"CPU sustained fraction of peak", &NodeFigures::cpu_sustained, FigureUnit::kRatio},
    {"CPU task start", &NodeFigures::cpu_start, FigureUnit::kSeconds},
    {"host memory", &NodeFigures::host_bytes, FigureUnit::kBytes},
    {"core memory bandwidth", &NodeFigures::core_bandwidth, FigureUnit::kBytesPerSecond},
    {"socket memory bandwidth", &NodeFigures::socket_bandwidth, FigureUnit::kBytesPerSecond},
    {"socket to socket bandwidth", &NodeFigures::intersocket_bandwidth,
     FigureUnit::kBytesPerSecond},
    {"host memory latency, own socket", &NodeFigures::local_latency, FigureUnit::kSeconds},
    {"host memory latency, other socket", &NodeFigures::remote_latency, FigureUnit::kSeconds},
    {"host copy latency", &NodeFigures::host_copy_latency, FigureUnit::kSeconds},
    {"RDMEM", &NodeFigures::rdmem_bytes, FigureUnit::kBytes},
    {"ZCMEM", &NodeFigures::zcmem_bytes, FigureUnit::kBytes},
    {"GPUs", &NodeFigures::gpus, FigureUnit::kRatio},
    {"GPU peak FP64", &NodeFigures::gpu_flops, FigureUnit::kFlopsPerSecond},
    {"GPU sustained fraction of peak", &NodeFigures::gpu_sustained, FigureUnit::kRatio},
    {"GPU task start", &NodeFigures::gpu_start, FigureUnit::kSeconds},
    {"GPU memory", &NodeFigures::gpu_bytes, FigureUnit::kBytes},
    {"GPU memory bandwidth", &NodeFigures::gpu_bandwidth, FigureUnit::kBytesPerSecond},
    {"GPU memory latency", &NodeFigures::gpu_latency, FigureUnit::kSeconds},
    {"zero-copy bandwidth of a GPU", &NodeFigures::zero_copy_bandwidth,
     FigureUnit::kBytesPerSecond},
    {"zero-copy latency of a GPU", &NodeFigures::zero_copy_latency, FigureUnit::kSeconds},
    {"host to GPU bandwidth", &NodeFigures::host_link_bandwidth, FigureUnit::kBytesPerSecond},
    {"GPU to GPU bandwidth, one socket", &NodeFigures::peer_near_bandwidth,
     FigureUnit::kBytesPerSecond},
    {"GPU to GPU bandwidth, two sockets", &NodeFigures::peer_far_bandwidth,
     FigureUnit::kBytesPerSecond},
    {"GPU copy latency", &NodeFigures::gpu_copy_latency, FigureUnit::kSeconds},
    {"network ports", &NodeFigures::ports, FigureUnit::kRatio},
    {"network bandwidth of a port", &NodeFigures::port_bandwidth, FigureUnit::kBytesPerSecond},
    {"network latency", &NodeFigures::network_latency, FigureUnit::kSeconds},
    {"network latency, GPU memory", &NodeFigures::network_gpu_latency, FigureUnit::kSeconds},
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
    texts->push_back(figure_text(figure.value, line.unit));
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

std::span<const FigureLine> figure_lines() { return kLines; }

std::string_view unit_name(FigureUnit unit) {
  switch (unit) {
    case FigureUnit::kRatio:
      break;
    case FigureUnit::kBytes:
      return "bytes";
    case FigureUnit::kBytesPerSecond:
      return "bytes/s";
    case FigureUnit::kFlopsPerSecond:
      return "flop/s";
    case FigureUnit::kSeconds:
      return "s";
  }
  return "1";
}

std::string figure_text(double value, FigureUnit unit) {
  switch (unit) {
    case FigureUnit::kRatio:
      break;
    case FigureUnit::kBytes:
      return bytes_text(value);
    case FigureUnit::kBytesPerSecond:
      return fmt::format("{:.4g} GB/s", value / 1e9);
    case FigureUnit::kFlopsPerSecond:
      return value >= 1e12 ? fmt::format("{:.4g} TFLOP/s", value / 1e12)
                           : fmt::format("{:.4g} GFLOP/s", value / 1e9);
    case FigureUnit::kSeconds:
      return value >= 1e-6 ? fmt::format("{:.4g} us", value * 1e6)
                           : fmt::format("{:.4g} ns", value * 1e9);
  }
  return fmt::format("{:.4g}", value);
}

const std::vector<Preset>& machine_presets() {
  static const PresetList list = make_list();
  return list.presets;
}

}  // namespace groma
