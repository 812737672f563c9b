// Boxes of points, and the iteration over them.
#include "groma/geometry.h"

namespace groma {

// Returns a box, or nothing if its corners or its volume do not fit in 64 bits.
std::optional<Rect> Rect::make(const Point& lower, const Point& extents) {
  if (lower.dimensions() != extents.dimensions()) return std::nullopt;
  std::int64_t volume = 1;
  bool empty = false;
  for (int i = 0; i < extents.dimensions(); ++i) {
    std::int64_t end = 0;
    if (extents[i] < 0 || __builtin_add_overflow(lower[i], extents[i], &end)) return std::nullopt;
    if (extents[i] == 0) empty = true;
  }
  // The volume of an empty box is 0, whatever the other extents are.
  for (int i = 0; i < extents.dimensions() && !empty; ++i) {
    if (__builtin_mul_overflow(volume, extents[i], &volume)) return std::nullopt;
  }
  return Rect{lower, extents};
}

// Returns the number of points. An extent of 0 is tested first because the product of the other
// extents may overflow.
std::int64_t Rect::volume() const {
  std::int64_t volume = 1;
  for (std::int64_t extent : extents.coordinates()) {
    if (extent == 0) return 0;
  }
  for (std::int64_t extent : extents.coordinates()) volume *= extent;
  return volume;
}

bool Rect::contains(const Point& point) const {
  if (point.dimensions() != dimensions()) return false;
  for (int i = 0; i < dimensions(); ++i) {
    if (point[i] < lower[i] || point[i] >= lower[i] + extents[i]) return false;
  }
  return true;
}

// Moves to the next point in the box; the last dimension changes fastest. Returns false after the
// last point, when `*point` is the first again.
bool next_point(const Rect& rect, Point* point) {
  for (int i = rect.dimensions() - 1; i >= 0; --i) {
    if (++(*point)[i] - rect.lower[i] < rect.extents[i]) return true;
    (*point)[i] = rect.lower[i];
  }
  return false;
}

}  // namespace groma
