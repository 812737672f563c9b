// Reads the members of tasks, tuples, processors and machines.
#pragma once

#include "evaluate/evaluation.h"

namespace groma::mapper {

// Returns `base.member`. `node` is the code of the expression, and `base_range` the place of
// `base`. Fails if the value does not have the member.
ProgramValue read_member(Evaluation& run, const program::CodeNode& node, const ProgramValue& base,
                         Range base_range);

// Returns the extents of a machine as values.
std::shared_ptr<const std::vector<ProgramValue>> sizes_as_values(const MachineView& view);

}  // namespace groma::mapper
