// ProgramBinding: the contents of a BoundProgram: a program, a machine, and the values of the
// program's globals there.
#pragma once

#include <vector>

#include "evaluate/value.h"
#include "groma/machine.h"
#include "groma/program.h"

namespace groma::mapper {

// A program that is bound to a machine. It does not change after bind().
struct ProgramBinding {
  Program program;
  Machine machine;
  // The value of each global, by its index. A global is monostate until its assignment is executed.
  std::vector<ProgramValue> globals;
};

}  // namespace groma::mapper
