// The figures of the presets. Every number occurs once, with its source. The machines (node.h) and
// the list of `groma machines NAME` (presets.cc) are both made from them.
#pragma once

#include <span>
#include <string_view>

namespace groma {

// A number, and where it comes from.
struct Sourced {
  double value;
  // The source of the number, as in PresetFigure::source.
  std::string_view source;
};

// The figures of one node, in bytes, bytes/s, flop/s and seconds. Counts are whole numbers.
struct NodeFigures {
  // Host: `sockets` equal sockets, each with its cores and an equal part of the memory.
  Sourced sockets;
  Sourced cores_per_socket;
  // The default number of CPU processors.
  Sourced cpus;
  Sourced core_flops;
  Sourced cpu_sustained;
  // The time to start a task body on a CPU or OMP processor.
  Sourced cpu_start;
  Sourced host_bytes;
  Sourced core_bandwidth;
  Sourced socket_bandwidth;
  Sourced intersocket_bandwidth;
  // The latency to the memory of the same socket.
  Sourced local_latency;
  // The latency to the memory of another socket.
  Sourced remote_latency;
  Sourced host_copy_latency;
  Sourced rdmem_bytes;
  Sourced zcmem_bytes;

  // GPUs, distributed evenly over the sockets.
  Sourced gpus;
  Sourced gpu_flops;
  Sourced gpu_sustained;
  Sourced gpu_start;
  Sourced gpu_bytes;
  Sourced gpu_bandwidth;
  Sourced gpu_latency;
  // The bandwidth with which the kernels of a GPU read host memory.
  Sourced zero_copy_bandwidth;
  Sourced zero_copy_latency;
  // The bandwidth between the host and one GPU, in each direction.
  Sourced host_link_bandwidth;
  // The bandwidth between two GPUs of one socket.
  Sourced peer_near_bandwidth;
  // The bandwidth between two GPUs of different sockets.
  Sourced peer_far_bandwidth;
  Sourced gpu_copy_latency;

  // Network.
  Sourced ports;
  Sourced port_bandwidth;
  Sourced network_latency;
  // The network latency if the memory of a GPU is at one end or both.
  Sourced network_gpu_latency;

  // The names of the channels.
  std::string_view socket_link = "qpi";
  std::string_view host_link = "pcie";
  std::string_view peer_link = "pcie";
  std::string_view network = "infiniband";
};

// A preset: a node that a machine consists of.
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
