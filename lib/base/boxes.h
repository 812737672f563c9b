// The union and the intersection of two boxes, and the positions of their points.
#pragma once

#include <algorithm>
#include <cstdint>

#include "groma/geometry.h"

namespace groma {

// Returns the smallest box that contains both boxes, which have the same number of dimensions.
inline Rect box_around(const Rect& a, const Rect& b) {
  Rect both = a;
  for (int d = 0; d < a.dimensions(); ++d) {
    const std::int64_t end = std::max(a.lower[d] + a.extents[d], b.lower[d] + b.extents[d]);
    both.lower[d] = std::min(a.lower[d], b.lower[d]);
    both.extents[d] = end - both.lower[d];
  }
  return both;
}

// Returns the intersection of two boxes with the same number of dimensions. If they have no common
// point, an extent of the result is 0.
inline Rect common_box(const Rect& a, const Rect& b) {
  Rect both = a;
  for (int d = 0; d < a.dimensions(); ++d) {
    const std::int64_t end = std::min(a.lower[d] + a.extents[d], b.lower[d] + b.extents[d]);
    both.lower[d] = std::max(a.lower[d], b.lower[d]);
    both.extents[d] = std::max<std::int64_t>(0, end - both.lower[d]);
  }
  return both;
}

// Returns the row-major position of a point of the box.
inline std::int64_t row_major_position(const Rect& box, const Point& point) {
  std::int64_t place = 0;
  for (int d = 0; d < point.dimensions(); ++d) {
    place = place * box.extents[d] + point[d] - box.lower[d];
  }
  return place;
}

// Returns the point at a row-major position of a box: the inverse of row_major_position().
inline Point point_at(const Rect& box, std::int64_t place) {
  Point point = box.lower;
  for (int d = box.dimensions() - 1; d > 0; --d) {
    point[d] += place % box.extents[d];
    place /= box.extents[d];
  }
  if (box.dimensions() > 0) point[0] += place;
  return point;
}

}  // namespace groma
