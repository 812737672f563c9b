// The figures of the presets. Every number occurs once, with its source. The machines (node.h) and
// the list of `groma machines NAME` (presets.cc) are both made from them.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace groma {

// A number with a text that says where it comes from.
struct SourcedNumber {
  double value;
  // The source of the number, as in PresetFigure::source.
  std::string_view source;
};

// The figures of one node, in bytes, bytes/s, flop/s and seconds. Counts are whole numbers.
struct NodeFigures {
  // The number of sockets of the host. Each has its cores and an equal part of the memory.
  SourcedNumber sockets;
  SourcedNumber cores_per_socket;
  // The default number of CPU processors.
  SourcedNumber cpus;
  SourcedNumber core_flops;
  SourcedNumber cpu_sustained;
  // The time to start a task body on a CPU or OMP processor.
  SourcedNumber cpu_start;
  SourcedNumber host_bytes;
  SourcedNumber core_bandwidth;
  SourcedNumber socket_bandwidth;
  SourcedNumber intersocket_bandwidth;
  // The latency of an access from a core to the memory of its own socket.
  SourcedNumber local_latency;
  // The latency of an access from a core to the memory of another socket.
  SourcedNumber remote_latency;
  SourcedNumber host_copy_latency;
  SourcedNumber rdmem_bytes;
  SourcedNumber zcmem_bytes;

  // The number of GPUs, which are distributed evenly over the sockets.
  SourcedNumber gpus;
  SourcedNumber gpu_flops;
  SourcedNumber gpu_sustained;
  SourcedNumber gpu_start;
  SourcedNumber gpu_bytes;
  SourcedNumber gpu_bandwidth;
  SourcedNumber gpu_latency;
  // The bandwidth with which the kernels of one GPU read host memory.
  SourcedNumber zero_copy_bandwidth;
  SourcedNumber zero_copy_latency;
  // The bandwidth between the host and one GPU, in each direction.
  SourcedNumber host_link_bandwidth;
  // The bandwidth between two GPUs of one socket.
  SourcedNumber peer_near_bandwidth;
  // The bandwidth between two GPUs of different sockets.
  SourcedNumber peer_far_bandwidth;
  SourcedNumber gpu_copy_latency;

  // The number of network ports of the node.
  SourcedNumber ports;
  SourcedNumber port_bandwidth;
  SourcedNumber network_latency;
  // The network latency if the memory of a GPU is at one end or both.
  SourcedNumber network_gpu_latency;

  // The names of the channels between sockets, between host and GPU, between GPUs, and between
  // nodes.
  std::string_view socket_link = "qpi";
  std::string_view host_link = "pcie";
  std::string_view peer_link = "pcie";
  std::string_view network = "infiniband";
};

// The units of figures.
enum class FigureUnit { kRatio, kBytes, kBytesPerSecond, kFlopsPerSecond, kSeconds };
// Returns how a machine's JSON writes the unit, such as "bytes/s".
std::string_view unit_name(FigureUnit unit);
// Returns a figure for people, to four digits: "16 GiB", "44 GB/s", "90 ns".
std::string figure_text(double value, FigureUnit unit);

// One line of the list of a node's figures: a figure, its description and its unit.
struct FigureLine {
  std::string_view what;
  SourcedNumber NodeFigures::*figure;
  FigureUnit unit;
};
// Returns a line for every figure of NodeFigures.
std::span<const FigureLine> figure_lines();

// A preset of a machine: a name, and the figures of its nodes.
struct PresetEntry {
  std::string_view name;
  std::string_view summary;
  NodeFigures figures;
};

// Returns all presets, the default first.
std::span<const PresetEntry> preset_entries();
// Returns the figures of the default preset.
const NodeFigures& default_figures();

}  // namespace groma
