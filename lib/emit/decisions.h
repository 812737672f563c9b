// Statements that decide by a key, as C++ functions: conditions on names and kinds, most specific
// first.
#pragma once

#include <string>

#include "emit/functions.h"

namespace groma::emitting {

// Static member functions of `Mapping`, one for each kind of statement that the program has, and
// `place`, which calls mapping functions.
std::string decisions(const Program& program, Functions& functions, Features& features);

}  // namespace groma::emitting
