// Machine: the machine for which a mapping decides. It has nodes with processors and memories, the
// memories that each processor can address, and the channels over which data moves.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "groma/kinds.h"
#include "groma/result.h"

namespace groma {

// Limits on a machine's size. They exceed the largest existing systems, and are low enough that
// every product of counts fits into 64 bits.
inline constexpr std::int64_t kMaxNodes = 1 << 20;
inline constexpr std::int64_t kMaxProcessorsPerNode = 1 << 16;
inline constexpr std::size_t kMaxNodeTypes = 1 << 12;

// A processor: its node, and its index among the processors of its kind in that node. Both count
// from 0.
struct Processor {
  ProcKind kind = ProcKind::kCpu;
  std::int64_t node = 0;
  std::int64_t index = 0;
  friend bool operator==(const Processor&, const Processor&) = default;
};

// A memory: its node, and its index among the memories of its kind in that node. Both count from 0.
struct Memory {
  MemKind kind = MemKind::kSysmem;
  std::int64_t node = 0;
  std::int64_t index = 0;
  friend bool operator==(const Memory&, const Memory&) = default;
};

// The processors of one kind in one type of node. An OMP processor is a group of cores: the cores
// of one socket, or an equal part of the node's cores if there are more OMP processors than
// sockets. The counts of CPU and OMP processors are those with which a runtime is started; both may
// use the same cores.
struct ProcessorGroup {
  ProcKind kind;
  // The number of processors in each node, at least 1.
  std::int64_t count;
  // The peak FP64 rate of one processor. 0 stands for an unknown rate (see Machine::make).
  double flops_per_s = 0;
  // The fraction of the peak that large dense kernels reach.
  double sustained_fraction = 1;
  // The time to start one task body.
  double launch_latency_s = 0;
  friend bool operator==(const ProcessorGroup&, const ProcessorGroup&) = default;
};

// The memories of one kind in one type of node: `count` memories of `capacity_bytes` bytes each. In
// a group of n processors, processor i uses memory i * count / n. For example, with two sockets
// four GPUs use the memories 0 0 1 1.
struct MemoryGroup {
  MemKind kind;
  std::int64_t count;
  std::int64_t capacity_bytes;
  // The sustained bandwidth of one memory in total. 0 stands for an unknown bandwidth.
  double bandwidth_bytes_per_s = 0;
  friend bool operator==(const MemoryGroup&, const MemoryGroup&) = default;
};

// A processor kind can address a memory kind of its own node, with these figures. Without an
// Affinity it cannot.
struct Affinity {
  ProcKind processor;
  MemKind memory;
  // The sustained bandwidth of one processor.
  double bandwidth_bytes_per_s;
  double latency_s;
  // The bandwidth of one core in the first 4 KiB of a row, if there is a gap between this row and
  // the row before. 0: ten cache lines of 64 bytes in one latency_s.
  double gap_bandwidth_bytes_per_s = 0;
  friend bool operator==(const Affinity&, const Affinity&) = default;
};

// A path for data between two memory kinds, within a node or between nodes. It carries data in both
// directions, so (from, to) and (to, from) are the same channel. In each node, `links` links of
// this bandwidth work in parallel; copies on the same link share its bandwidth.
// Channels with the same name are the same hardware. They are listed once for each pair of memory
// kinds: a PCIe link carries copies from SYSMEM and from ZCMEM. A copy within one memory needs no
// channel.
struct Channel {
  // The memories that a channel connects. kLocal: different memories of one node. kPeer: two
  // memories of one kind in one node (GPU to GPU, socket to socket). kNetwork: memories of two
  // nodes.
  enum class Scope : std::uint8_t { kLocal, kPeer, kNetwork };
  // The name of the channel, such as "pcie", "nvlink" or "infiniband".
  std::string name;
  MemKind from;
  MemKind to;
  Scope scope;
  std::int64_t links = 1;
  // The sustained bandwidth of each direction of each link.
  double bandwidth_bytes_per_s;
  double latency_s;
  friend bool operator==(const Channel&, const Channel&) = default;
};

// One type of node. A machine whose nodes are all equal has one type.
struct NodeType {
  // The processors, with at most one group of a kind.
  std::vector<ProcessorGroup> processors;
  // The memories, with at most one group of a kind.
  std::vector<MemoryGroup> memories;
  std::vector<Affinity> affinities;
  std::vector<Channel> channels;

  // Return the group or the affinity of these kinds, or null if the node has none.
  const ProcessorGroup* find(ProcKind kind) const;
  const MemoryGroup* find(MemKind kind) const;
  const Affinity* find(ProcKind processor, MemKind memory) const;
  friend bool operator==(const NodeType&, const NodeType&) = default;
};

// The computer on which figures were measured. A computer that differs in one of these members is
// another computer.
struct MeasuredComputer {
  // The processor's model as hwloc reports it. Empty if it is unknown.
  std::string cpu_model;
  std::int64_t cores = 1;
  // The number of NUMA nodes with cores and memory; 1 if the computer has none.
  std::int64_t numa_nodes = 1;
  friend bool operator==(const MeasuredComputer&, const MeasuredComputer&) = default;
};

// A figure of a computer: how large it is, how much its measurements differ, and where it comes
// from.
struct MeasuredFigure {
  // What the figure is about: "core memory bandwidth".
  std::string what;
  // The unit of `value`, `low` and `high`: "bytes/s", "flop/s", "s", "bytes", or "1" for a ratio.
  std::string unit;
  // The median of the repeated measurements.
  double value = 0;
  // The middle half of the repeats lies between these two values.
  double low = 0, high = 0;
  // How often the figure was measured. 0: it was not measured, and `source` says where it comes
  // from.
  std::int64_t repeats = 0;
  std::string source;
  friend bool operator==(const MeasuredFigure&, const MeasuredFigure&) = default;
};

// The measurements from which the figures of a machine were made (groma/calibrate.h). They are a
// record for people and programs. Nothing that is simulated reads them: the simulation reads the
// figures of the node types.
struct MachineMeasurement {
  MeasuredComputer computer;
  std::vector<MeasuredFigure> figures;
  friend bool operator==(const MachineMeasurement&, const MachineMeasurement&) = default;
};
inline constexpr std::size_t kMaxMeasuredFigures = 1 << 10;

// A machine. Immutable, and safe to read from any thread.
class Machine {
 public:
  // Makes a machine. `nodes` holds, for every node, its index in `node_types`. A processor or
  // memory rate of 0 is unknown and gets the value of the default preset for that kind. The checks
  // are: at least one node; counts within the limits above; indices in range; no group twice;
  // affinities and channels between existing groups; finite positive figures (a latency may be 0).
  // Fails with kMalformed, or with kTooLarge beyond kMaxNodes or kMaxNodeTypes. The message has the
  // place: "node_types/0/processors/1/count: 0 is not a count (1 to 65536)".
  static Result<Machine> make(std::string name, std::string description,
                              std::vector<NodeType> node_types, std::vector<std::uint32_t> nodes);

  const std::string& name() const { return name_; }
  const std::string& description() const { return description_; }

  std::int64_t node_count() const { return static_cast<std::int64_t>(nodes_.size()); }
  // In all functions of Machine, the number `node` must be in 0 .. node_count() - 1.
  const NodeType& node(std::int64_t node) const;
  const std::vector<NodeType>& node_types() const { return node_types_; }
  const std::vector<std::uint32_t>& nodes() const { return nodes_; }
  // Returns the measurements from which this machine was made; nullopt if it was not measured.
  const std::optional<MachineMeasurement>& measurement() const { return measurement_; }
  // Returns this machine with other measurements in its record. Fails with kMalformed if a figure
  // is negative or not finite, if its middle half does not contain its value, or if a text is
  // empty or too long; with kTooLarge beyond kMaxMeasuredFigures. The message has the place:
  // "measured/figures/3/low: ...".
  Result<Machine> with_measurement(MachineMeasurement measurement) const;

  // Returns the number of processors of `kind` in that node.
  std::int64_t processor_count(std::int64_t node, ProcKind kind) const;
  // Returns the smallest number of processors of `kind` in any node. In the mapping language it is
  // the extent of the second dimension of Machine(kind).
  std::int64_t processors_per_node(ProcKind kind) const;
  // Returns true if all nodes have the same number of processors of `kind`.
  bool uniform(ProcKind kind) const;
  // Returns true if any node has a processor of `kind`.
  bool has(ProcKind kind) const;
  // Returns true if a processor of `kind` in `node` can address a (non-empty) memory of kind
  // `memory`.
  bool can_address(std::int64_t node, ProcKind kind, MemKind memory) const;
  // Returns the memory of that kind that the processor uses (see MemoryGroup), or nullopt if it can
  // address none. The processor must exist.
  std::optional<Memory> memory_of(const Processor& processor, MemKind kind) const;
  // Returns all processors: node by node, in each node kind by kind, in the order of their indices.
  std::vector<Processor> processors() const;

  friend bool operator==(const Machine&, const Machine&) = default;

 private:
  Machine() = default;
  struct CountRange {
    std::int64_t smallest = 0;
    std::int64_t largest = 0;
    friend bool operator==(const CountRange&, const CountRange&) = default;
  };
  const CountRange& extremes(ProcKind kind) const;
  void find_count_extremes();

  std::string name_;
  std::string description_;
  std::vector<NodeType> node_types_;
  // The index of each node's type in node_types_.
  std::vector<std::uint32_t> nodes_;
  std::optional<MachineMeasurement> measurement_;
  // The smallest and the largest number of processors of each kind over all nodes.
  std::array<CountRange, kProcKindCount> extremes_{};
};

// One parameter of a preset, as `groma machines NAME` lists it.
struct PresetParameter {
  std::string_view name;
  // The meaning of the parameter, with its unit.
  std::string_view meaning;
  std::int64_t default_value;
};

// A figure of a preset with its source. The source begins with the kind of evidence: published (by
// the vendor or site), measured (and published by those who measured), recalled (from such a
// publication, not read again; good to 20 %), arithmetic, or chosen.
struct PresetFigure {
  // What the figure measures, such as "GPU peak FP64".
  std::string_view what;
  // The value with its unit, such as "4.7 TFLOP/s".
  std::string_view value;
  // The source of the value: a publication, a figure of the vendor, or a measurement.
  std::string_view source;
};

// A machine that comes with Groma.
struct Preset {
  std::string_view name;
  std::string_view summary;
  // The parameters that make_machine() takes.
  std::vector<PresetParameter> parameters;
  std::vector<PresetFigure> figures;
};

// Returns the machines that come with Groma, the default (`p100x4`) first.
const std::vector<Preset>& machine_presets();

// Makes a machine from a preset with parameters (`lassen`, `lassen:nodes=16,zcmem=64`) or from an
// inline line (`nodes=4,gpu=4,cpu=4,omp=2`). An inline line gives counts for each node; everything
// else comes from the default preset. The parameters are:
// * `nodes`
// * `gpu`, `cpu`, `omp`, `io`, `py`: processors of that kind in each node
// * `sockets`: sockets in each node; each has a SOCKMEM and, unless `omp` is given, an OMP
//   processor
// * `sysmem`, `sockmem`, `rdmem`, `zcmem`, `fbmem`: MiB of one memory
// Without GPUs there is no ZCMEM, as in Realm. Fails with kUnknown on an unknown name or parameter;
// the help names the nearest one. Fails with kMalformed on a value that is not a count in range, a
// repeated parameter, or an empty line.
Result<Machine> make_machine(std::string_view spec);

// Returns the inline line for a machine with the processors and memories of this one. The counts
// are the smallest of any node. The memories are those of the first node, in whole MiB. The line
// has no rates.
std::string machine_line(const Machine& machine);

}  // namespace groma
