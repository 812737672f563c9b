// A NodeType made of figures: whole, for presets, or in parts, for descriptions that leave things
// out.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "groma/machine.h"
#include "machine/figures.h"

namespace groma {

// How many of each processor kind a node has, and how large one memory of each kind is; 0: none.
struct NodeCounts {
  std::array<std::int64_t, kProcKindCount> processors{};
  std::array<std::int64_t, kMemKindCount> memory_bytes{};
  std::int64_t sockets = 1;  // memories of each kind that belongs to one

  std::int64_t& of(ProcKind kind) { return processors[static_cast<std::size_t>(kind)]; }
  std::int64_t of(ProcKind kind) const { return processors[static_cast<std::size_t>(kind)]; }
  std::int64_t& bytes_of(MemKind kind) { return memory_bytes[static_cast<std::size_t>(kind)]; }
  std::int64_t bytes_of(MemKind kind) const { return memory_bytes[static_cast<std::size_t>(kind)]; }
};

// What the figures say: CPUs, GPUs, one OMP processor and one SOCKMEM for each socket, of which
// there are as many as they say unless told. No rate depends on that.
NodeCounts default_counts(const NodeFigures& figures, std::optional<std::int64_t> sockets = {});

// A node of these figures and counts. Kinds with count 0 have no group; without GPUs there are no
// FBMEM and no ZCMEM.
NodeType make_node(const NodeFigures& figures, const NodeCounts& counts);

// The parts of it. `counts` matters to OMP processors, which share the sockets' cores, and to the
// number of FBMEMs. A memory kind without figures of its own is as SYSMEM or SOCKMEM.
ProcessorGroup make_processors(const NodeFigures& figures, ProcKind kind, std::int64_t count);
MemoryGroup make_memory(const NodeFigures& figures, const NodeCounts& counts, MemKind kind);
std::vector<MemoryGroup> make_memories(const NodeFigures& figures, const NodeCounts& counts);
// Between all groups that `node` has, where `addressable`.
std::vector<Affinity> make_affinities(const NodeFigures& figures, const NodeType& node);
Affinity make_affinity(const NodeFigures& figures, const NodeType& node, ProcKind processor,
                       MemKind memory);
std::vector<Channel> make_channels(const NodeFigures& figures, const NodeType& node);

// Whether a runtime lets that processor kind address that memory kind of its node (Legion): a GPU
// its FBMEM and ZCMEM, all others every memory but FBMEM.
bool addressable(ProcKind processor, MemKind memory);

// Replaces rates of 0 in processors and memories by the default preset's.
void fill_unknown_rates(NodeType* node);

}  // namespace groma
