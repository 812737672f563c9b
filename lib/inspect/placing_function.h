// What place() and place_numbers() share: the function that places the points of a launch, and the
// check of the launch domain.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "groma/diagnostics.h"
#include "groma/evaluate.h"
#include "groma/inspect.h"
#include "groma/kinds.h"
#include "groma/program.h"

namespace groma::inspect {

// The function to call, and the statements that chose it.
struct PlacingFunction {
  // The kind of processor. nullopt: it is unknown before the function is called.
  std::optional<ProcKind> kind;
  FunctionId function = 0;
  std::vector<DecisionOrigin> origins;
};

// Returns the function that the query names or that the statements choose for its task. Returns
// nullopt, after a diagnostic, if no statement decides or a name is unknown.
std::optional<PlacingFunction> placing_function(const BoundProgram& bound, const PlaceQuery& query,
                                                Diagnostics& diags);

// Returns true if the domain of the query may be evaluated. Reports an empty domain, or one with
// more than `max_points` points. A query with a parent has no domain.
bool check_domain(const PlaceQuery& query, std::int64_t max_points, Diagnostics& diags);

}  // namespace groma::inspect
