// LaunchPoints: the points of launches over sparse index spaces, for mappers that read them.
#pragma once

#include <legion.h>

#include <map>
#include <mutex>
#include <optional>

#include "groma/point_set.h"

namespace groma::legion {

// A cache of the points of Legion domains. Thread-safe.
class LaunchPoints {
 public:
  // Returns the points of a sparse domain. Returns nullopt for a dense one, and for one with more
  // than kMaxPointRuns runs of points.
  std::optional<PointSet> points_of(const Legion::Domain& domain);

 private:
  std::mutex mutex_;
  std::map<Legion::Domain, std::optional<PointSet>> known_;
  // The number of boxes of all cached domains.
  std::size_t boxes_ = 0;
};

}  // namespace groma::legion
