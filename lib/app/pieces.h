// Pieces of partitions, from their formulas: the boxes of which a piece is the union, and the cells
// of the regions whose pieces have holes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/data.h"
#include "base/budget.h"

namespace groma::app {

// Limits of all regions with cells together: the boxes of their pieces; the elementary boxes into
// which the boxes cut the regions, and the cells in the sets of the pieces; the boxes that are
// compared and the elementary boxes that are visited on the way.
inline constexpr std::int64_t kMaxPieceBoxes = std::int64_t{1} << 17;
inline constexpr std::int64_t kMaxPieceCells = std::int64_t{1} << 22;
inline constexpr std::int64_t kMaxPieceSteps = std::int64_t{1} << 24;

// Counts the steps of a computation and ends it when they are too many.
struct Steps {
  std::int64_t left = kMaxPieceSteps;
  bool over() const { return left < 0; }
};

// A union of boxes: a region, or a piece of one.
class Cut {
 public:
  Cut(std::vector<Rect> boxes, int dimensions);
  // None of them is empty. In one dimension they neither meet nor touch; in more they may meet.
  // They are ordered by their lower corners in the first dimension.
  const std::vector<Rect>& boxes() const { return boxes_; }
  // The smallest box around them; without points and at the origin if there is none.
  const Rect& around() const { return around_; }
  // Adds the parts of `box` that are in the union to `parts`. A step is a box that is compared with
  // it; stops when there are none left.
  void add_common(const Rect& box, std::vector<Rect>& parts, Steps& steps) const;

 private:
  std::vector<Rect> boxes_;
  // By box: the largest end in the first dimension of this one and those before it.
  std::vector<std::int64_t> ends_;
  Rect around_;
};

// The piece of a colour within `partition.colors`, given what is cut: the region, or the piece of
// the outer partition. Sets `fault` if a formula has no value. Not all of it if the steps are over.
Cut cut(const Partition& partition, const Point& color, const Cut& outer, FormulaFault& fault,
        Steps& steps);
// The same, from the region on, as far as kMaxPieceSteps reach.
Cut cut(const Data& data, const Partition& partition, const Point& color, FormulaFault& fault);

// The place of a colour within `colors` in row-major order.
std::int64_t place_in(const Rect& colors, const Point& color);

// Why cells could not be made.
struct CellFault {
  std::size_t partition = 0;  // that is at fault
  std::string why;
  bool too_large = false;  // a limit was passed
};
// Fills Region::cell_points, Region::all_cells and Partition::pieces of every region that has a
// partition by boxes. Stops at a formula without a value, at the limits above, and when `time` is
// exceeded, without a fault.
std::optional<CellFault> make_cells(Data& data, Budget& time);

}  // namespace groma::app
