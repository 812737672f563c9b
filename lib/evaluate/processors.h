// Functions on the processors of one kind in the stable order of the machine: by node, then by
// index.
#pragma once

#include <optional>
#include <string>

#include "groma/diagnostics.h"
#include "groma/machine.h"

namespace groma::mapper {

// Returns text such as "GPU (0, 3)": the kind, the node and the index in the node.
std::string text_of(const Processor& processor);
std::string text_of(const Memory& memory);

inline bool processor_exists(const Machine& machine, const Processor& processor) {
  return processor.node >= 0 && processor.node < machine.node_count() && processor.index >= 0 &&
         processor.index < machine.processor_count(processor.node, processor.kind);
}

// Returns the first processor of the kind at or after `node`, continuing at node 0 after the last
// node. nullopt if the machine has none.
std::optional<Processor> first_processor_from(const Machine& machine, ProcKind kind,
                                              std::int64_t node);

// Returns the processor after `processor`, which must exist; after the last one comes the first.
Processor next_processor(const Machine& machine, const Processor& processor);

// Returns the number of processors of the kind on the machine.
std::int64_t count_processors(const Machine& machine, ProcKind kind);

// Returns the memory kind that processors of this kind reach with the highest bandwidth on that
// node. Among kinds of equal bandwidth it is the first in the order of MemKind. With `rdma`, RDMEM
// (registered memory) and ZCMEM (zero-copy memory) come before all other kinds.
std::optional<MemKind> best_memory_kind(const Machine& machine, std::int64_t node, ProcKind kind,
                                        bool rdma = false);

// Warns at `range` that Machine(kind) has unequal numbers of the kind in its nodes, if that is so.
// Does nothing if `diags` already has this warning for another place.
void warn_of_unequal_nodes(const Machine& machine, ProcKind kind, Range range, Diagnostics& diags);

}  // namespace groma::mapper
