// Task: the task properties that a mapping function can read. Part of the code that `groma emit`
// writes (lib/emit/parts.cc).
#pragma once

#include <string_view>

#include "emit/parts/processor.h"

namespace groma::emit {

// The properties of a task that a mapping function can read: coordinates for a point of a launch,
// processors for a single task.
struct Parent {
  std::string_view name;
  // The processor on which the parent task runs.
  Processor processor;
};
struct Task {
  std::string_view name;
  // The point, counted from the lower corner of the launch.
  Tuple ipoint;
  // The extents of the launch domain.
  Tuple ispace;
  // The lower corner of the launch domain.
  Tuple ilo;
  // @if ranks
  // The place of the point among the points of the launch, and their number.
  Int irank, ivolume;
  // @end
  // The processor that holds the task before it is mapped.
  Processor processor;
  Parent parent;
};

}  // namespace groma::emit
