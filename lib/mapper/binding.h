// Binding: what a BoundProgram holds.
#pragma once

#include <vector>

#include "groma/machine.h"
#include "groma/program.h"
#include "mapper/value.h"

namespace groma::mapper {

struct Binding {
  Program program;
  Machine machine;
  std::vector<Value> globals;  // by index; monostate until its assignment is carried out
};

}  // namespace groma::mapper
