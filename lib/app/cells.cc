// Makes and compares sets of cells, which are groups of points that belong to the same pieces.
#include "app/cells.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace groma::app {

// Returns the set of these cells, with their number of points and a hash of their numbers. The hash
// depends on the order, so the numbers must ascend.
CellSet cell_set(std::span<const std::int64_t> cell_points, std::vector<std::uint32_t> cells) {
  CellSet set;
  for (const std::uint32_t cell : cells) {
    set.points += cell_points[cell];
    set.key = (set.key ^ (std::uint64_t{cell} + 1)) * 0x9E3779B97F4A7C15;
    set.key ^= set.key >> 29;
  }
  set.cells = std::move(cells);
  return set;
}

// Returns the union of two sets of the same region.
CellSet union_of(std::span<const std::int64_t> cell_points, const CellSet& a, const CellSet& b) {
  std::vector<std::uint32_t> cells;
  std::set_union(a.cells.begin(), a.cells.end(), b.cells.begin(), b.cells.end(),
                 std::back_inserter(cells));
  return cell_set(cell_points, std::move(cells));
}

// Returns true if `outer` has every cell of `inner`.
bool covers(const CellSet& outer, const CellSet& inner) {
  return &outer == &inner || std::includes(outer.cells.begin(), outer.cells.end(),
                                           inner.cells.begin(), inner.cells.end());
}

// Returns true if the two sets have a common cell. Both lists ascend, so one pass over them
// suffices.
bool have_common_point(const CellSet& a, const CellSet& b) {
  auto of_a = a.cells.begin(), of_b = b.cells.begin();
  while (of_a != a.cells.end() && of_b != b.cells.end()) {
    if (*of_a == *of_b) return true;
    ++(*of_a < *of_b ? of_a : of_b);
  }
  return false;
}

// Returns the number of points that are in both sets.
std::int64_t common_points(std::span<const std::int64_t> cell_points, const CellSet& a,
                           const CellSet& b) {
  std::vector<std::uint32_t> common;
  std::set_intersection(a.cells.begin(), a.cells.end(), b.cells.begin(), b.cells.end(),
                        std::back_inserter(common));
  std::int64_t points = 0;
  for (const std::uint32_t cell : common) points += cell_points[cell];
  return points;
}

}  // namespace groma::app
