// Machine: what a mapping is decided for. Nodes, their processors and memories, which processor can
// address which memory, and the channels over which data moves.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "groma/kinds.h"
#include "groma/result.h"

namespace groma {

// Bounds on a machine's size: above the largest systems there are, low enough that every product of
// counts fits 64 bits with room.
inline constexpr std::int64_t kMaxNodes = 1 << 20;
inline constexpr std::int64_t kMaxProcessorsPerNode = 1 << 16;
inline constexpr std::size_t kMaxNodeTypes = 1 << 12;

// A processor: its node, and its index among those of its kind in that node, both from 0.
struct Processor {
  ProcKind kind = ProcKind::kCpu;
  std::int64_t node = 0;
  std::int64_t index = 0;
  friend bool operator==(const Processor&, const Processor&) = default;
};

// A memory: its node, and its index among those of its kind in that node, both from 0.
struct Memory {
  MemKind kind = MemKind::kSysmem;
  std::int64_t node = 0;
  std::int64_t index = 0;
  friend bool operator==(const Memory&, const Memory&) = default;
};

// The processors of one kind in one kind of node. An OMP processor is a group of cores: those of
// one socket, or an equal part of the node's where there are more OMP processors than sockets. CPU
// and OMP processors are counts that a runtime is started with; they may stand for the same cores.
struct ProcessorGroup {
  ProcKind kind;
  std::int64_t count;             // in each node, at least 1
  double flops_per_s = 0;         // peak FP64 of one processor; 0: not known (see Machine::make)
  double sustained_fraction = 1;  // of the peak, for large dense kernels
  double launch_latency_s = 0;    // to start one task body on it
  friend bool operator==(const ProcessorGroup&, const ProcessorGroup&) = default;
};

// The memories of one kind in one kind of node. `count` memories, `capacity_bytes` each; processor
// i of a group with n processors uses memory i * count / n (blocks: two sockets, four GPUs: 0 0 1
// 1).
struct MemoryGroup {
  MemKind kind;
  std::int64_t count;
  std::int64_t capacity_bytes;
  double bandwidth_bytes_per_s = 0;  // what one memory sustains in all; 0: not known
  friend bool operator==(const MemoryGroup&, const MemoryGroup&) = default;
};

// A processor kind can address a memory kind of its own node, this fast. No affinity: it cannot.
struct Affinity {
  ProcKind processor;
  MemKind memory;
  double bandwidth_bytes_per_s;  // sustained, one processor
  double latency_s;
  friend bool operator==(const Affinity&, const Affinity&) = default;
};

// A way for data between two memory kinds, in one node or between nodes; it is good for both
// directions, so (from, to) and (to, from) are one. `links` channels of this bandwidth work side by
// side in (each) node; copies on the same one share it. Channels of one name are one piece of
// hardware, listed once for each pair of memory kinds that it joins: a PCIe link carries copies
// from SYSMEM and from ZCMEM. A copy inside one memory needs no channel.
struct Channel {
  // Between different memories of one node, between two memories of one kind in one node (GPU to
  // GPU, socket to socket), between two nodes.
  enum class Scope : std::uint8_t { kLocal, kPeer, kNetwork };
  std::string name;  // "pcie", "nvlink", "infiniband"
  MemKind from;
  MemKind to;
  Scope scope;
  std::int64_t links = 1;
  double bandwidth_bytes_per_s;  // sustained, each direction, each link
  double latency_s;
  friend bool operator==(const Channel&, const Channel&) = default;
};

// One kind of node. Machines of equal nodes have one.
struct NodeType {
  std::vector<ProcessorGroup> processors;  // at most one group of a kind
  std::vector<MemoryGroup> memories;       // at most one group of a kind
  std::vector<Affinity> affinities;
  std::vector<Channel> channels;

  const ProcessorGroup* find(ProcKind kind) const;
  const MemoryGroup* find(MemKind kind) const;
  const Affinity* find(ProcKind processor, MemKind memory) const;
  friend bool operator==(const NodeType&, const NodeType&) = default;
};

// Immutable once made; safe to read from any thread.
class Machine {
 public:
  // `nodes` holds the index in `node_types` of every node. Checks what it is given: at least one
  // node, counts within the bounds above, indices in range, no group twice, affinities and channels
  // between groups that exist, finite positive figures (latencies may be 0). A rate of a processor
  // or memory left at 0 is not known and becomes the default preset's for that kind. Fails
  // (kMalformed, or kTooLarge beyond kMaxNodes or kMaxNodeTypes) with the place:
  // "node_types/0/processors/1/count: 0 is no count (1 to 65536)".
  static Result<Machine> make(std::string name, std::string description,
                              std::vector<NodeType> node_types, std::vector<std::uint32_t> nodes);

  const std::string& name() const { return name_; }
  const std::string& description() const { return description_; }

  std::int64_t node_count() const { return static_cast<std::int64_t>(nodes_.size()); }
  // `node` must be in 0 .. node_count() - 1, here and below.
  const NodeType& node(std::int64_t node) const;
  const std::vector<NodeType>& node_types() const { return node_types_; }
  const std::vector<std::uint32_t>& nodes() const { return nodes_; }

  // Processors of `kind` in that node; 0 when it has none.
  std::int64_t processor_count(std::int64_t node, ProcKind kind) const;
  // The smallest count over all nodes: the extent of Machine(kind)'s second dimension.
  std::int64_t processors_per_node(ProcKind kind) const;
  // Whether all nodes have the same count of `kind`.
  bool uniform(ProcKind kind) const;
  // Whether any node has a processor of `kind`.
  bool has(ProcKind kind) const;
  // Whether a processor of `kind` in `node` can address a (non-empty) memory of kind `memory`.
  bool can_address(std::int64_t node, ProcKind kind, MemKind memory) const;

  friend bool operator==(const Machine&, const Machine&) = default;

 private:
  Machine() = default;
  struct Extremes {
    std::int64_t smallest = 0;
    std::int64_t largest = 0;
    friend bool operator==(const Extremes&, const Extremes&) = default;
  };
  const Extremes& extremes(ProcKind kind) const;
  void note_extremes();

  std::string name_;
  std::string description_;
  std::vector<NodeType> node_types_;
  std::vector<std::uint32_t> nodes_;                 // each node's type
  std::array<Extremes, kProcKindCount> extremes_{};  // of the count of each kind, over all nodes
};

// One parameter of a preset, as `groma machines NAME` lists it.
struct PresetParameter {
  std::string_view name;
  std::string_view meaning;  // with its unit
  std::int64_t default_value;
};

// A figure of a preset and where it comes from. The source begins with what kind of evidence it is:
// published (by the vendor or site), measured (and published by whoever measured), recalled (from
// such a publication, not read again: good to 20 %), arithmetic, or chosen.
struct PresetFigure {
  std::string_view what;    // "GPU peak FP64"
  std::string_view value;   // "4.7 TFLOP/s"
  std::string_view source;  // publication, vendor figure or measurement
};

struct Preset {
  std::string_view name;
  std::string_view summary;
  std::vector<PresetParameter> parameters;  // as make_machine() has them
  std::vector<PresetFigure> figures;
};

// The machines that come with Groma, the default (`p100x4`) first.
const std::vector<Preset>& machine_presets();

// Makes a machine from a preset with parameters (`lassen`, `lassen:nodes=16,zcmem=64`) or from an
// inline line (`nodes=4,gpu=4,cpu=4,omp=2`: counts for each node, the rest as the default preset
// has it). Parameters: `nodes`; `gpu`, `cpu`, `omp`, `io`, `py`, processors of that kind in each
// node; `sockets` in each, with a SOCKMEM and unless said otherwise an OMP processor; `sysmem`,
// `sockmem`, `rdmem`, `zcmem`, `fbmem`, MiB of one memory. Without GPUs there is no ZCMEM, as in
// Realm. Fails (kUnknown) on a name or parameter that does not exist, the nearest as help;
// (kMalformed) on a value that is no count in range, a parameter given twice, an empty line.
Result<Machine> make_machine(std::string_view spec);

// The inline line of a machine with the processors and memories of this one: the fewest processors
// of any node, the memories of the first, in whole MiB. Rates are none of it.
std::string machine_line(const Machine& machine);

}  // namespace groma
