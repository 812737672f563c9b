// Translates the statements of a mapping that decide by a key (task, region, kind) to C++
// functions, which test names and kinds, the most specific first.
#pragma once

#include <string>

#include "emit/functions.h"

namespace groma::emitting {

// Returns the C++ text of the static member functions of the emitted struct `Mapping`: one for each
// kind of statement in the program, and `place`, which calls mapping functions.
std::string decision_functions(const Program& program, FunctionTranslator& functions,
                               Features& features);

}  // namespace groma::emitting
