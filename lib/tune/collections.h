// Collections: what an application's tasks take as arguments, each by the name that comes first,
// how large it is, and which of them are in part the same data: the overlap graph that AutoMap's
// co-location stands on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "groma/workload.h"

namespace groma::tuning {

struct Collection {
  std::vector<std::string> names;  // that a mapping may know it by, its own first
  double bytes = 0;                // 0 where the application does not describe it
};

struct Overlap {
  std::uint32_t a = 0, b = 0;  // collections, a <= b; each overlaps itself
  double bytes = 0;
};

struct Collections {
  std::vector<Collection> all;
  // By task of the application: its arguments, the largest first, then in their order.
  std::vector<std::vector<std::uint32_t>> of_task;
  std::vector<Overlap> overlaps;  // the lightest first
};

// Bytes are estimates: pieces of a partition are counted one by one, and a partition of more than
// 512 pieces as all of its region.
Collections collections_of(const Workload& workload);

}  // namespace groma::tuning
