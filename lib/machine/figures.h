// The figures that presets are made of: every number once, with its source. Machines (node.h) and
// the figures that `groma machines NAME` lists (presets.cc) are both made of these.
#pragma once

#include <span>
#include <string_view>

namespace groma {

struct Sourced {
  double value;
  std::string_view source;  // as PresetFigure::source
};

// One node. Bytes, bytes/s, flop/s and seconds; counts are whole numbers.
struct NodeFigures {
  // Host: `sockets` equal sockets, each with its cores and its part of the memory.
  Sourced sockets;
  Sourced cores_per_socket;
  Sourced cpus;  // CPU processors, unless asked otherwise
  Sourced core_flops;
  Sourced cpu_sustained;
  Sourced cpu_start;  // to start a task body on a CPU or OMP processor
  Sourced host_bytes;
  Sourced core_bandwidth;
  Sourced socket_bandwidth;
  Sourced intersocket_bandwidth;
  Sourced local_latency;   // to the socket's own memory
  Sourced remote_latency;  // to another socket's
  Sourced host_copy_latency;
  Sourced rdmem_bytes;
  Sourced zcmem_bytes;

  // GPUs, spread evenly over the sockets.
  Sourced gpus;
  Sourced gpu_flops;
  Sourced gpu_sustained;
  Sourced gpu_start;
  Sourced gpu_bytes;
  Sourced gpu_bandwidth;
  Sourced gpu_latency;
  Sourced zero_copy_bandwidth;  // a GPU's kernels reading host memory
  Sourced zero_copy_latency;
  Sourced host_link_bandwidth;  // each GPU, each direction
  Sourced peer_near_bandwidth;  // GPU to GPU of one socket
  Sourced peer_far_bandwidth;   // and across sockets
  Sourced gpu_copy_latency;

  // Network.
  Sourced ports;
  Sourced port_bandwidth;
  Sourced network_latency;
  Sourced network_gpu_latency;  // where a GPU's memory is at one end or both

  // The channels' names.
  std::string_view socket_link = "qpi";
  std::string_view host_link = "pcie";
  std::string_view peer_link = "pcie";
  std::string_view network = "infiniband";
};

struct PresetEntry {
  std::string_view name;
  std::string_view summary;
  NodeFigures figures;
};

// All presets, the default first.
std::span<const PresetEntry> preset_entries();
const NodeFigures& default_figures();

}  // namespace groma
