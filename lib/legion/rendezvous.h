// is_rendezvous(): tells whether the points of a launch wait for each other. This file is also part
// of the text that `groma emit` writes.
#pragma once

#include <legion.h>

#include <algorithm>

namespace groma::legion {

// Returns true if the points of the task's launch wait for each other, so that none may be held
// back.
inline bool is_rendezvous(const Legion::Task& task) {
  // Legion computes the extents of output regions from all points of a launch before any point
  // ends.
  const bool sizes_together = task.is_index_space && !task.output_regions.empty();
  return task.concurrent_task || task.must_epoch_task || sizes_together ||
         std::any_of(task.regions.begin(), task.regions.end(),
                     [](const Legion::RegionRequirement& one) {
                       return (one.prop & LEGION_COLLECTIVE_MASK) != 0;
                     });
}

}  // namespace groma::legion
