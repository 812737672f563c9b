// The mapping functions of the search space (docs/search_space.md) and of what guide_run() tries,
// as text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "groma/kinds.h"

namespace groma::inspect {

// The functions for index launches of that many dimensions, from 1 on, by name: where the points
// are numbered before they are dealt out, the name begins with how.
std::vector<std::string> index_functions(int dimensions);
// The only one for single tasks: where the parent runs.
inline constexpr std::string_view kSamePoint = "same_point";

// The name that it has for processors of one kind, and its definition under that name or another.
// `name` must be one of the above.
std::string name_for(std::string_view name, ProcKind kind);
std::string definition(std::string_view name, ProcKind kind);
std::string definition(std::string_view name, ProcKind kind, std::string_view as);

}  // namespace groma::inspect
