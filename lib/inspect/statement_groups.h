// Groups the differences between two mappings by the statements that make them.
#pragma once

#include <vector>

#include "groma/diff.h"

namespace groma {

// Returns the statements of B and of A that make at least one of the decisions, without costs. See
// MappingDiff::statements for the order and for the statements of A that are included.
std::vector<StatementDifference> group_by_statement(
    const std::vector<MappingDifference>& differences);

}  // namespace groma
