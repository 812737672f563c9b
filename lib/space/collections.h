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
  // The names by which a mapping may refer to the data. The collection's own name comes first.
  std::vector<std::string> names;
  // The size in bytes; 0 if the application does not describe the data.
  double bytes = 0;
};

// The number of bytes that two collections have in common.
struct CollectionOverlap {
  // The indices of the two collections in Collections::all, with a <= b. They are equal for the
  // overlap of a collection with itself.
  std::uint32_t a = 0, b = 0;
  double bytes = 0;
};

// The collections of an application, the tasks that use them, and their overlaps.
struct Collections {
  std::vector<Collection> all;
  // For each task, the indices in `all` of the collections that are its arguments, the largest
  // first. Collections of equal size have the order of the arguments.
  std::vector<std::vector<std::uint32_t>> arguments_of_task;
  // The pairs of collections that share data. They are sorted by their common bytes, the smallest
  // first.
  std::vector<CollectionOverlap> overlaps;
};

// Returns the collections of an application. The sizes are estimates: the pieces (subregions) of a
// partition are counted one by one, but a partition of more than 512 pieces counts as its whole
// region.
Collections collections_of(const Workload& workload);

}  // namespace groma::tuning
