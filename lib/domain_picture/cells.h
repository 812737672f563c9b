// The cells of a picture: points, or cubes of several points where the domain is large.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "groma/domain.h"

namespace groma::domains {

struct PictureCell {
  // The place in the picture, in cells from the lower corner of the box around the points.
  std::array<std::int64_t, 3> at{};
  // The first point in the cell, and the number of points in it that were looked at.
  std::int64_t first = 0, points = 0;
};

struct PictureCells {
  // In the order of their first points.
  std::vector<PictureCell> cells;
  // The side of a cell, in points.
  std::int64_t side = 1;
  // The extents of the picture in cells; 1 in dimensions that the domain does not have.
  std::array<std::int64_t, 3> extents{1, 1, 1};
  // The number of points that were looked at. Less than all if there are very many.
  std::int64_t looked_at = 0;
};

// Returns at most `most_cells` cells, at most `most_extent` in each dimension. The domain has 1 to
// 3 dimensions.
PictureCells picture_cells(const Domain& domain, std::int64_t most_cells, std::int64_t most_extent);

// Calls f(k, point) for all points, or for evenly spread ones if there are more than 2^22. Returns
// the number of calls.
template <typename Function>
std::int64_t look_at_points(const Domain& domain, const Function& f) {
  constexpr std::int64_t kMostPoints = std::int64_t{1} << 22, kSpread = std::int64_t{1} << 19;
  const std::int64_t count = domain.count();
  if (count <= kMostPoints) {
    domain.for_each(0, count, f);
    return count;
  }
  const std::int64_t step = count / kSpread;
  for (std::int64_t i = 0; i < kSpread; ++i) {
    // A place within the step that differs from step to step, so that rows do not matter.
    const auto jitter =
        static_cast<std::int64_t>((static_cast<std::uint64_t>(i) * 0x9E37'79B9'7F4A'7C15U >> 1) %
                                  static_cast<std::uint64_t>(step));
    const std::int64_t k = i * step + jitter;
    f(k, domain.point(k));
  }
  return kSpread;
}

}  // namespace groma::domains
