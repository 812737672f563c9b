// The texts of the mapping functions that the search space (docs/search_space.md) and guide_run()
// use.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "groma/kinds.h"

namespace groma::inspect {

// Returns the names of the functions for index launches with this many dimensions (at least 1).
// Some functions number the points before they deal them out; their names begin with the numbering.
std::vector<std::string> index_functions(int dimensions);
// Returns the few of them that guide_run() tries: those that number the points by rows or columns,
// and `grid`, without the dealing `cyclic1d`.
std::vector<std::string> common_index_functions(int dimensions);
// The only function for single tasks: the task runs where its parent runs.
inline constexpr std::string_view kSamePoint = "same_point";

// name_for() returns the function's name for one processor kind. definition() returns the
// function's text, under that name or under `as`. `name` must be one of the names above.
std::string name_for(std::string_view name, ProcKind kind);
std::string definition(std::string_view name, ProcKind kind);
std::string definition(std::string_view name, ProcKind kind, std::string_view as);

}  // namespace groma::inspect
