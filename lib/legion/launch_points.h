// LaunchPoints: the points of launches over sparse index spaces, for mappers that read them.
#pragma once

#include <legion.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

#include "groma/point_set.h"

namespace groma::legion {

// A cache of the points of Legion domains. Thread-safe.
class LaunchPoints {
 public:
  // Returns the points of a sparse domain. Goes through its boxes, also if it is known. Returns
  // nullopt for a dense one, and for one with more than kMaxPointRuns runs of points.
  std::optional<PointSet> points_of(const Legion::Domain& domain);

 private:
  std::mutex mutex_;
  struct KnownPoints {
    // A hash of the domain's boxes.
    std::uint64_t boxes = 0;
    std::optional<PointSet> points;
  };
  std::map<Legion::Domain, KnownPoints> known_;
  // The number of boxes that were added since the cache was empty.
  std::size_t boxes_ = 0;
};

}  // namespace groma::legion
