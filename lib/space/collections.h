// Collections: the data that the tasks of an application take as arguments. Arguments with the same
// first name are one collection. The overlaps say which collections share data, which the proposer
// `ccd` needs for AutoMap's co-location constraints.
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

// How many bytes two collections have in common.
struct Overlap {
  std::uint32_t a = 0, b = 0;  // indices into Collections::all, a <= b; includes a == b
  double bytes = 0;
};

// The collections of an application, the tasks that use them, and their overlaps.
struct Collections {
  std::vector<Collection> all;
  // For each task of the application: the collections of its arguments (indices into `all`), the
  // largest first; ties in the order of the arguments.
  std::vector<std::vector<std::uint32_t>> arguments_of_task;
  std::vector<Overlap> overlaps;  // sorted by bytes, smallest first
};

// Returns the collections of an application. The sizes are estimates. The pieces of a partition are
// counted one by one, but a partition of more than 512 pieces counts as its whole region.
Collections collections_of(const Workload& workload);

}  // namespace groma::tuning
