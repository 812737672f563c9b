// CellSet: the points of a piece that need not be a box.
//
// Two points of a region are in one cell if they belong to exactly the same pieces. A piece is then
// a set of cells, and the points that two pieces share are those of the cells in both.
// Only regions with a partition by AppPartition::boxes have cells (make_cells of app/pieces.h);
// pieces of the others are boxes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace groma::app {

struct CellSet {
  std::vector<std::uint32_t> cells;  // ascending
  std::int64_t points = 0;           // of all these cells
  std::uint64_t key = 0;             // a hash of `cells`
};

// The set of these cells, which ascend. `cell_points` has the points of each cell of the region.
CellSet cell_set(std::span<const std::int64_t> cell_points, std::vector<std::uint32_t> cells);
// The set with the points of both.
CellSet united(std::span<const std::int64_t> cell_points, const CellSet& a, const CellSet& b);

// Returns true if `outer` has all points of `inner`.
bool covers(const CellSet& outer, const CellSet& inner);
// Returns true if they have a point in common.
bool meet(const CellSet& a, const CellSet& b);
// The number of points that both have.
std::int64_t common_points(std::span<const std::int64_t> cell_points, const CellSet& a,
                           const CellSet& b);

}  // namespace groma::app
