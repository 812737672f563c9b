// Walks over a machine's processors. Nodes may be unequal, and some may have none of a kind.
#include "mapper/processors.h"

namespace groma::mapper {

std::optional<Processor> first_from(const Machine& machine, ProcKind kind, std::int64_t node) {
  const std::int64_t nodes = machine.node_count();
  for (std::int64_t i = 0; i < nodes; ++i) {
    const std::int64_t n = (node + i) % nodes;
    if (machine.processor_count(n, kind) > 0) return Processor{kind, n, 0};
  }
  return std::nullopt;
}

Processor next_processor(const Machine& machine, const Processor& processor) {
  if (processor.index + 1 < machine.processor_count(processor.node, processor.kind)) {
    return {processor.kind, processor.node, processor.index + 1};
  }
  const std::int64_t after = (processor.node + 1) % machine.node_count();
  return *first_from(machine, processor.kind, after);
}

std::int64_t count_processors(const Machine& machine, ProcKind kind) {
  if (machine.uniform(kind)) return machine.node_count() * machine.processors_per_node(kind);
  std::int64_t count = 0;
  for (std::int64_t n = 0; n < machine.node_count(); ++n) count += machine.processor_count(n, kind);
  return count;
}

std::optional<Memory> memory_of(const Machine& machine, const Processor& processor, MemKind kind) {
  if (!machine.can_address(processor.node, processor.kind, kind)) return std::nullopt;
  const NodeType& node = machine.node(processor.node);
  const std::int64_t processors = node.find(processor.kind)->count;
  return Memory{kind, processor.node, processor.index * node.find(kind)->count / processors};
}

std::optional<MemKind> best_memory(const Machine& machine, std::int64_t node, ProcKind kind,
                                   bool rdma) {
  const auto bandwidth = [&](MemKind memory) {
    const Affinity* affinity = machine.node(node).find(kind, memory);
    return affinity == nullptr ? 0.0 : affinity->bandwidth_bytes_per_s;
  };
  const auto registered = [](MemKind memory) {
    return memory == MemKind::kRdmem || memory == MemKind::kRegsockmem;
  };
  std::optional<MemKind> best;
  for (std::size_t m = 0; m < kMemKindCount; ++m) {
    const auto memory = static_cast<MemKind>(m);
    if (memory == MemKind::kVirtual || !machine.can_address(node, kind, memory)) continue;
    const bool preferred = rdma && best && registered(memory) && !registered(*best);
    const bool deferred = rdma && best && !registered(memory) && registered(*best);
    if (deferred) continue;
    if (!best || preferred || bandwidth(memory) > bandwidth(*best)) best = memory;
  }
  return best;
}

}  // namespace groma::mapper
