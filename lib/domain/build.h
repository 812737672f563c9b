// Builds the map of a declaration.
#pragma once

#include <vector>

#include "domain/point_map.h"
#include "domain/tree.h"

namespace groma::domains {

// Builds the map of `tree`, one of `trees`, for these values of its parameters. Reports errors and
// returns null if there are any.
PointMapPtr build(const std::vector<DeclarationTree>& trees, const DeclarationTree& tree,
                  const std::vector<std::int64_t>& values, Diagnostics& diags);

}  // namespace groma::domains
