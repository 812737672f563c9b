// Helpers for machines with several types of nodes: they say where to ask a mapper, and whether its
// answers differ between nodes.
#pragma once

#include <array>
#include <vector>

#include "groma/machine.h"
#include "groma/mapper_output.h"

namespace groma {

// For each processor kind, the first processor of each node type that has this kind. A mapper may
// decide differently on each of these processors.
using FirstProcessors = std::array<std::vector<Processor>, kProcKindCount>;
FirstProcessors first_of_each_node_type(const Machine& machine);

// Returns true if two answers about a requirement have the same memories and layouts, decided by
// the same statements.
bool same_memories_and_layouts(const InstanceChoice& a, const InstanceChoice& b);

}  // namespace groma
