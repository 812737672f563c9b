// Finds processors and memories of a machine. Nodes may be unequal, and some may have no processor
// of a kind.
#include "evaluate/processors.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace groma::mapper {
namespace {

// Returns the kind, the node and the index of a processor or memory as text, such as "GPU (0, 1)".
template <typename Place>
std::string place_text(const Place& place) {
  return fmt::format("{} ({}, {})", name_of(place.kind), place.node, place.index);
}

}  // namespace

std::string text_of(const Processor& processor) { return place_text(processor); }
std::string text_of(const Memory& memory) { return place_text(memory); }

// Returns the first processor of the kind. Looks at the nodes from `node` on, and after the last
// one from node 0 on.
std::optional<Processor> first_processor_from(const Machine& machine, ProcKind kind,
                                              std::int64_t node) {
  const std::int64_t nodes = machine.node_count();
  for (std::int64_t i = 0; i < nodes; ++i) {
    const std::int64_t n = (node + i) % nodes;
    if (machine.processor_count(n, kind) > 0) return Processor{kind, n, 0};
  }
  return std::nullopt;
}

// Returns the next processor of the same kind: on the same node, then on the next node that has
// one. The first processor follows the last.
Processor next_processor(const Machine& machine, const Processor& processor) {
  if (processor.index + 1 < machine.processor_count(processor.node, processor.kind)) {
    return {processor.kind, processor.node, processor.index + 1};
  }
  const std::int64_t after = (processor.node + 1) % machine.node_count();
  return *first_processor_from(machine, processor.kind, after);
}

// Returns the number of processors of a kind on the whole machine.
std::int64_t count_processors(const Machine& machine, ProcKind kind) {
  if (machine.uniform(kind)) return machine.node_count() * machine.processors_per_node(kind);
  std::int64_t count = 0;
  for (std::int64_t n = 0; n < machine.node_count(); ++n) count += machine.processor_count(n, kind);
  return count;
}

// Returns the memory kind with the highest bandwidth among those that the processors can address
// and that have a capacity. With `rdma`, registered memory (RDMEM) and zero-copy memory (ZCMEM)
// come before all others. Among memory kinds of equal bandwidth, the first in the order of MemKind
// is chosen.
std::optional<MemKind> best_memory_kind(const Machine& machine, std::int64_t node, ProcKind kind,
                                        bool rdma) {
  const auto registered = [rdma](const Affinity& affinity) {
    return rdma && (affinity.memory == MemKind::kRdmem || affinity.memory == MemKind::kZcmem);
  };
  const auto better = [&](const Affinity& a, const Affinity& b) {
    if (registered(a) != registered(b)) return registered(a);
    if (a.bandwidth_bytes_per_s > b.bandwidth_bytes_per_s) return true;
    return a.bandwidth_bytes_per_s == b.bandwidth_bytes_per_s && a.memory < b.memory;
  };
  const NodeType& type = machine.node(node);
  const Affinity* best = nullptr;
  for (const Affinity& affinity : type.affinities) {
    if (affinity.processor != kind || affinity.memory == MemKind::kVirtual) continue;
    const MemoryGroup* memory = type.find(affinity.memory);
    if (memory == nullptr || memory->capacity_bytes == 0) continue;
    if (best == nullptr || better(affinity, *best)) best = &affinity;
  }
  return best == nullptr ? std::nullopt : std::optional(best->memory);
}

// Warns, once for each kind, if some nodes have another number of processors of the kind.
void warn_of_unequal_nodes(const Machine& machine, ProcKind kind, Range range, Diagnostics& diags) {
  if (machine.uniform(kind)) return;
  const auto same = [kind](const Diagnostic& told) {
    return told.id == DiagId::kUnequalNodes && std::get<std::string>(told.args[1]) == name_of(kind);
  };
  if (std::any_of(diags.all().begin(), diags.all().end(), same)) return;
  diags.report(DiagId::kUnequalNodes, range, machine.name(), name_of(kind),
               machine.processors_per_node(kind));
}

}  // namespace groma::mapper
