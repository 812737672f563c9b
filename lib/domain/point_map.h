// PointMap: the map of a domain, from k to the k-th point and back. Maps are immutable.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "groma/domain.h"

namespace groma::domains {

// The coordinates of a point; only the first dimensions() are used.
using Coordinates = std::array<std::int64_t, kMaxDimensions>;

struct MapDescription;

class PointMap {
 public:
  virtual ~PointMap() = default;
  PointMap() = default;
  PointMap(const PointMap&) = delete;
  PointMap& operator=(const PointMap&) = delete;

  std::int64_t count() const { return count_; }
  int dimensions() const { return dimensions_; }
  // Bounds of the coordinates, both included. Without meaning if there are no points.
  const Coordinates& lower() const { return lower_; }
  const Coordinates& upper() const { return upper_; }

  // Writes the k-th point; 0 <= k < count().
  virtual void unrank(std::int64_t k, Coordinates& point) const = 0;
  // Returns k of the point, or -1 if the point is not in the domain. Any coordinates are allowed.
  virtual std::int64_t rank(const Coordinates& point) const = 0;
  virtual Proof proof() const = 0;
  // Returns what the map is made of (domain/description.h). By default: a list of points.
  virtual MapDescription describe() const;

 protected:
  std::int64_t count_ = 0;
  int dimensions_ = 0;
  Coordinates lower_{}, upper_{};
};

using PointMapPtr = std::shared_ptr<const PointMap>;

}  // namespace groma::domains
