// CellSet: describes the points of a piece that may have holes.
//
// Two points of a region are in the same cell if they belong to exactly the same pieces. So a piece
// is a set of cells, and the common points of two pieces are the points of their common cells. Only
// a region with a partition by AppPartition::boxes has cells (make_cells of app/pieces.h). The
// pieces of all other regions are boxes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace groma::app {

struct CellSet {
  // The numbers of the cells that form the set, in ascending order.
  std::vector<std::uint32_t> cells;
  // The number of points that the cells of the set have together.
  std::int64_t points = 0;
  // A hash of the cell numbers in `cells`.
  std::uint64_t key = 0;
};

// Returns the set of these cells, whose numbers must ascend. `cell_points` gives the number of
// points of each cell of the region.
CellSet cell_set(std::span<const std::int64_t> cell_points, std::vector<std::uint32_t> cells);
// Returns the union of both sets.
CellSet union_of(std::span<const std::int64_t> cell_points, const CellSet& a, const CellSet& b);

// Returns true if `outer` has all points of `inner`.
bool covers(const CellSet& outer, const CellSet& inner);
// Returns true if `a` and `b` have a common point.
bool have_common_point(const CellSet& a, const CellSet& b);
// Returns the number of points that are in both sets.
std::int64_t common_points(std::span<const std::int64_t> cell_points, const CellSet& a,
                           const CellSet& b);

}  // namespace groma::app
