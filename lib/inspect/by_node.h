// Nodes that may differ: where to ask a mapper, and whether its answers do.
#pragma once

#include <array>
#include <vector>

#include "groma/machine.h"
#include "groma/wish.h"

namespace groma {

// By kind, the first processor in each type of node that has some: a mapper may decide differently
// on each.
using FirstProcessors = std::array<std::vector<Processor>, kProcKindCount>;
FirstProcessors first_of_each_node_type(const Machine& machine);

// Whether two wishes say the same of memories and layouts, by the same statements.
bool same_data(const RequirementWish& a, const RequirementWish& b);

}  // namespace groma
