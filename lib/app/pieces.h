// Computes the pieces of partitions from their formulas: the boxes whose union is a piece, and the
// cells of regions whose pieces have holes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/data.h"
#include "base/budget.h"

namespace groma::app {

// Limits for one application. They count the regions that are cut into cells, all of them together.
// kMaxPieceBoxes: the number of boxes of all pieces. kMaxPieceCells: the number of elementary boxes
// (the parts into which the boxes of the pieces cut a region), plus the number of cells that the
// pieces list. kMaxPieceSteps: the number of comparisons of boxes and visits of elementary boxes.
inline constexpr std::int64_t kMaxPieceBoxes = std::int64_t{1} << 17;
inline constexpr std::int64_t kMaxPieceCells = std::int64_t{1} << 22;
inline constexpr std::int64_t kMaxPieceSteps = std::int64_t{1} << 24;

// The number of steps that a computation may still take. It is negative once the limit is exceeded.
struct StepBudget {
  std::int64_t left = kMaxPieceSteps;
  bool over() const { return left < 0; }
};

// A union of boxes. It describes the points of a region or of a piece.
class BoxUnion {
 public:
  BoxUnion(std::vector<Rect> boxes, int dimensions);
  // Returns the boxes of the union, none of which is empty, ordered by their lower corners in the
  // first dimension. In one dimension they do not overlap or touch; in several dimensions they may
  // overlap.
  const std::vector<Rect>& boxes() const { return boxes_; }
  // Returns the smallest box around the union; an empty box at the origin if the union is empty.
  const Rect& bounding_box() const { return around_; }
  // Adds the parts of `box` that are in the union to `parts`. A step is a comparison with one box.
  // Stops when no steps are left.
  void add_intersections(const Rect& box, std::vector<Rect>& parts, StepBudget& steps) const;

 private:
  std::vector<Rect> boxes_;
  // For each box: the largest end in the first dimension of this box and those before it.
  std::vector<std::int64_t> ends_;
  Rect around_;
};

// Returns the piece of a colour within `partition.colors`. `outer` is the data that is cut: the
// region, or the piece of the outer partition. Sets `fault` if a formula has no value. The piece is
// incomplete if the steps are used up.
BoxUnion boxes_of_piece(const Partition& partition, const Point& color, const BoxUnion& outer,
                        FormulaFault& fault, StepBudget& steps);
// Returns the piece of a colour within `partition.colors`, and computes the pieces of all outer
// partitions for it. All these computations together take at most kMaxPieceSteps steps.
BoxUnion boxes_of_piece(const Data& data, const Partition& partition, const Point& color,
                        FormulaFault& fault);

// The reason why make_cells() could not compute the cells of the regions.
struct CellFault {
  // The number of the partition that caused the error.
  std::size_t partition = 0;
  std::string why;
  // True if one of the limits above was exceeded.
  bool too_large = false;
};
// Fills Region::cell_points, Region::all_cells and Partition::pieces of every region that has a
// partition by boxes. Returns the error if a formula has no value or a limit above is exceeded. If
// `time` is exceeded, stops without an error.
std::optional<CellFault> make_cells(Data& data, Budget& time);

}  // namespace groma::app
