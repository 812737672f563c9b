// Writes the statements that decide by a key as C++ functions: conditions on names and kinds, the
// most specific first.
#pragma once

#include <string>

#include "emit/functions.h"

namespace groma::emitting {

// Returns the static member functions of `Mapping`: one for each kind of statement in the program,
// and `place`, which calls mapping functions.
std::string decision_functions(const Program& program, FunctionTranslator& functions,
                               Features& features);

}  // namespace groma::emitting
