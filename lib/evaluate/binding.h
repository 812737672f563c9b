// Binding: the contents of a BoundProgram: a program, a machine, and the values of the program's
// globals there.
#pragma once

#include <vector>

#include "evaluate/value.h"
#include "groma/machine.h"
#include "groma/program.h"

namespace groma::mapper {

struct Binding {
  Program program;
  Machine machine;
  // value of each global, by its index; monostate until its assignment is executed
  std::vector<Value> globals;
};

}  // namespace groma::mapper
