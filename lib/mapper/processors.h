// Processors of one kind in the machine's stable order: by node, then by index.
#pragma once

#include <optional>
#include <string>

#include "groma/diagnostics.h"
#include "groma/machine.h"

namespace groma::mapper {

// "GPU (0, 3)": its kind, node and number there.
std::string text_of(const Processor& processor);
std::string text_of(const Memory& memory);

inline bool exists(const Machine& machine, const Processor& processor) {
  return processor.node >= 0 && processor.node < machine.node_count() && processor.index >= 0 &&
         processor.index < machine.processor_count(processor.node, processor.kind);
}

// The first of the kind at or after `node`, from the start again behind the last node; nothing when
// the machine has none.
std::optional<Processor> first_from(const Machine& machine, ProcKind kind, std::int64_t node);

// The one after `processor`, which must exist; the first after the last.
Processor next_processor(const Machine& machine, const Processor& processor);

// How many the machine has, in all.
std::int64_t count_processors(const Machine& machine, ProcKind kind);

// The memory of that kind that `processor` uses: see MemoryGroup. Nothing when it can address none.
std::optional<Memory> memory_of(const Machine& machine, const Processor& processor, MemKind kind);

// The kind of memory that processors of this kind reach with the most bandwidth on that node; the
// first in the kinds' order at a tie. `rdma`: the better of RDMEM and ZCMEM, where there is
// one.
std::optional<MemKind> best_memory(const Machine& machine, std::int64_t node, ProcKind kind,
                                   bool rdma = false);

// Where the nodes have unequal numbers of the kind, says so of Machine(kind) at `range`, unless
// `diags` has it of another place: once is enough for a program.
void warn_of_unequal_nodes(const Machine& machine, ProcKind kind, Range range, Diagnostics& diags);

}  // namespace groma::mapper
