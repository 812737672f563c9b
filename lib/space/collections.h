// Collections: the data that an application's tasks take as arguments, identified by the first name
// of each argument, with its size. The overlap graph says which collections share data. AutoMap's
// co-location step needs this graph.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "groma/workload.h"

namespace groma::tuning {

// The data of all task arguments that have the same first name.
struct Collection {
  std::vector<std::string> names;  // names that a mapping may use, the collection's own name first
  double bytes = 0;                // 0 if the application does not describe the data
};

// The bytes that two collections share.
struct Overlap {
  std::uint32_t a = 0, b = 0;  // indices into Collections::all, a <= b; includes a == b
  double bytes = 0;
};

// All collections of an application, which tasks use them, and where they overlap.
struct Collections {
  std::vector<Collection> all;
  // For each task of the application: the collections of its arguments (indices into `all`), the
  // largest first; ties in the order of the arguments.
  std::vector<std::vector<std::uint32_t>> arguments_of_task;
  std::vector<Overlap> overlaps;  // sorted by bytes, smallest first
};

// Returns the collections of an application. Bytes are estimates: the pieces of a partition are
// counted one by one, but a partition of more than 512 pieces counts as its whole region.
Collections collections_of(const Workload& workload);

}  // namespace groma::tuning
