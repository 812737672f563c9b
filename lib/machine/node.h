// Makes a NodeType from figures: the whole node, for presets, or its parts, for descriptions that
// leave something out.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "groma/machine.h"
#include "machine/figures.h"

namespace groma {

// The number of processors of each kind in a node, and the size of one memory of each kind; 0:
// none.
struct NodeCounts {
  std::array<std::int64_t, kProcKindCount> processors{};
  std::array<std::int64_t, kMemKindCount> memory_bytes{};
  // The number of sockets. Each has its own socket memories.
  std::int64_t sockets = 1;

  std::int64_t& processor_count_of(ProcKind kind) {
    return processors[static_cast<std::size_t>(kind)];
  }
  std::int64_t processor_count_of(ProcKind kind) const {
    return processors[static_cast<std::size_t>(kind)];
  }
  std::int64_t& memory_bytes_of(MemKind kind) {
    return memory_bytes[static_cast<std::size_t>(kind)];
  }
  std::int64_t memory_bytes_of(MemKind kind) const {
    return memory_bytes[static_cast<std::size_t>(kind)];
  }
};

// Returns the numbers of processors and memories that `figures` has: CPUs, GPUs, and one OMP
// processor and one SOCKMEM for each socket. `sockets` replaces the number of sockets; it changes
// no bandwidth or speed.
NodeCounts default_counts(const NodeFigures& figures, std::optional<std::int64_t> sockets = {});

// Returns a node with these figures and counts. Kinds with count 0 have no group. Without GPUs
// there are no FBMEM and no ZCMEM.
NodeType make_node(const NodeFigures& figures, const NodeCounts& counts);

// Return the processors and memories of one kind, or all memories, of a node. `counts` matters for
// OMP processors, which share the cores of the sockets, and for the number of FBMEMs. A memory kind
// without figures of its own uses those of SYSMEM or SOCKMEM.
ProcessorGroup make_processors(const NodeFigures& figures, ProcKind kind, std::int64_t count);
MemoryGroup make_memory(const NodeFigures& figures, const NodeCounts& counts, MemKind kind);
std::vector<MemoryGroup> make_memories(const NodeFigures& figures, const NodeCounts& counts);
// Returns the affinities between all groups of `node` that are addressable (can_address()).
std::vector<Affinity> make_affinities(const NodeFigures& figures, const NodeType& node);
Affinity make_affinity(const NodeFigures& figures, const NodeType& node, ProcKind processor,
                       MemKind memory);
// Returns the channels between the memories of `node`, and to other nodes.
std::vector<Channel> make_channels(const NodeFigures& figures, const NodeType& node);

// Returns true if a runtime lets that processor kind address that memory kind of its node (Legion):
// GPUs their FBMEM and ZCMEM, all others every memory except FBMEM.
bool can_address(ProcKind processor, MemKind memory);

// Replaces each rate of 0 (unknown) in the node's processors and memories by that of the default
// preset.
void fill_unknown_rates(NodeType* node);

}  // namespace groma
