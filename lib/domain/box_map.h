// BoxMap: the points of a few boxes in the order of nested loops over the coordinates. The
// outermost coordinate is cut into intervals; within one, the rest of the set is the same and is
// cut likewise.
#pragma once

#include <optional>
#include <vector>

#include "domain/point_map.h"

namespace groma::domains {

// Limit on the intervals of a map.
inline constexpr std::size_t kMaxIntervals = std::size_t{1} << 16;

// Returns the map of the points that are in one of the boxes `in` and in none of `out`. The points
// come in the order of nested loops over the coordinates; `order` lists the coordinates, the
// outermost first. The number of points must fit 63 bits. Returns null if that needs too many
// intervals.
PointMapPtr make_box_map(const std::vector<Box>& in, const std::vector<Box>& out, int dimensions,
                         const std::vector<std::size_t>& order);

// Returns a point that is in a box of both lists.
std::optional<Coordinates> shared_point(const std::vector<Box>& a, const std::vector<Box>& b,
                                        int dimensions);

}  // namespace groma::domains
