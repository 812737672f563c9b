// Finds, before a machine is known, constant dimensions, positions and numbers of indices that a
// machine or a tuple cannot have: `Machine(GPU).split(2, 4)`, `m.size[5]`, `m[0, 0, 0]`.
#pragma once

#include <span>
#include <string>

#include "groma/diagnostics.h"
#include "program/data.h"

namespace groma::program {

// Reports constant dimensions, positions and numbers of indices that do not exist, in all code of
// `data`. A mistake is an error if every run of the top level or of a bound function evaluates it.
// It is a warning if it may never be evaluated: in a branch, in a function that only a branch
// calls, or in a function that nothing uses. `order` has every function once, callees first. The
// rows of the statements must be complete.
void check_dimensions(const ProgramData& data, std::span<const FunctionId> order,
                      Diagnostics& diags);

// Return "1 dimension" or "2 dimensions", and "1 index" or "2 indices", for messages.
std::string dimensions_text(std::int64_t n);
std::string indices_text(std::int64_t n);

}  // namespace groma::program
