// Reads the members of tasks, tuples, processors and machines.
#pragma once

#include "evaluate/evaluation.h"

namespace groma::mapper {

// Returns `base.member`. `node` is the code of the expression, and `base_range` the place of
// `base`. Fails if the value does not have the member.
Value member_of(Evaluation& run, const program::Code& node, const Value& base, Range base_range);

// Returns the extents of a machine as values.
std::shared_ptr<const std::vector<Value>> sizes_of(const MachineView& view);

}  // namespace groma::mapper
