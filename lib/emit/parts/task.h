#pragma once

#include <string_view>

#include "emit/parts/processor.h"

namespace groma::emit {

// What a function can ask of its task: of a point of a launch the coordinates, of a single task the
// processors.
struct Parent {
  std::string_view name;
  Processor processor;  // on which it runs
};
struct Task {
  std::string_view name;
  Tuple ipoint;         // counted from the launch's lower corner
  Tuple ispace;         // the launch's extents
  Tuple ilo;            // its lower corner
  Processor processor;  // on which it stands before it is mapped
  Parent parent;
};

}  // namespace groma::emit
