// PointMap: the map of a domain, from k to the k-th point and back. Maps are immutable.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "groma/domain.h"

namespace groma::domains {

// The coordinates of a point; only the first dimensions() are used.
using Coordinates = std::array<std::int64_t, kMaxDimensions>;

// The points between two corners, both included.
struct Box {
  Coordinates lower{}, upper{};
};
// Limit on the boxes of which a domain may be known to consist.
inline constexpr std::size_t kMaxBoxes = 1024;

class PointMap;
struct MapDescription;
using PointMapPtr = std::shared_ptr<const PointMap>;

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
  // Writes the coordinates of the points k, k + 1, ..., k + count - 1, one point behind the other.
  // 0 <= k, and k + count is at most count().
  virtual void unrank_many(std::int64_t k, std::size_t count, std::int64_t* out) const {
    Coordinates point;
    for (std::size_t i = 0; i < count; ++i) {
      unrank(k + static_cast<std::int64_t>(i), point);
      out = std::copy_n(point.begin(), dimensions_, out);
    }
  }
  virtual Proof proof() const = 0;
  // Returns what the map is made of (domain/description.h). By default: a list of points.
  virtual MapDescription describe() const;

  // Returns disjoint boxes of which the domain consists. Returns nullopt if it is not known to be
  // made of boxes, or of more than kMaxBoxes.
  virtual std::optional<std::vector<Box>> boxes() const { return std::nullopt; }
  // Returns the coordinates in the order of nested loops, the outermost first, if the points are
  // boxes and come in the order of such loops. Otherwise the result is empty.
  virtual std::vector<std::size_t> loop_order() const { return {}; }
  // Returns the points of this map that are in none of the boxes, in their order, without a look at
  // each point. Returns null if that is not possible: the points are not boxes in the order of
  // loops, or too many boxes.
  virtual PointMapPtr without(const std::vector<Box>& out) const;

 protected:
  std::int64_t count_ = 0;
  int dimensions_ = 0;
  Coordinates lower_{}, upper_{};
};

}  // namespace groma::domains
