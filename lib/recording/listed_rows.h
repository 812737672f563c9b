// condition_of_rows: writes any set of points as a condition.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "groma/app.h"
#include "groma/point_set.h"

namespace groma::app {

// Returns a condition that selects the points of the domain from its box: choices between the
// coordinates at which the points begin to differ. `index` are the names of the coordinates.
// Returns nullopt if the condition would be longer than a formula may be.
std::optional<Formula> condition_of_rows(const LaunchDomain& domain,
                                         const std::vector<std::string>& index);

}  // namespace groma::app
