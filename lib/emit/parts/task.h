// Task: the task properties that a mapping function can read. Part of the code that `groma emit`
// writes (lib/emit/parts.cc).
#pragma once

#include <string_view>

#include "emit/parts/processor.h"

namespace groma::emit {

// The properties of a task that a function can read: coordinates for a point of a launch,
// processors for a single task.
struct Parent {
  std::string_view name;
  Processor processor;  // where it runs
};
struct Task {
  std::string_view name;
  Tuple ipoint;         // counted from the lower corner of the launch
  Tuple ispace;         // extents of the launch
  Tuple ilo;            // lower corner of the launch
  Processor processor;  // the processor that holds the task before it is mapped
  Parent parent;
};

}  // namespace groma::emit
