// Computes the pieces of partitions as boxes, and the cells into which pieces divide a region.
#include "app/pieces.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <numeric>
#include <utility>

#include "base/boxes.h"
#include "base/point_text.h"

namespace groma::app {
namespace {

// Limit on the boxes of one piece before adjacent boxes are joined. Each box takes about 160 bytes.
constexpr std::size_t kMaxParts = std::size_t{1} << 20;

// Clips one dimension of a piece to [0, size). Formulas may give any values, so the sum of `lower`
// and `extent` may overflow and the extent may be negative. The result is empty if nothing is left;
// it then lies within [0, size].
void clip(std::int64_t size, std::int64_t& lower, std::int64_t& extent) {
  std::int64_t end = 0;
  if (extent < 0) extent = 0;
  if (__builtin_add_overflow(lower, extent, &end)) end = INT64_MAX;
  const std::int64_t from = std::clamp<std::int64_t>(lower, 0, size);
  end = std::clamp<std::int64_t>(end, from, size);
  lower = from;
  extent = end - from;
}

__extension__ typedef __int128 Wide;

// Returns where block c begins if `size` points are divided into `parts` equal blocks, for 0 <= c
// <= parts. The product needs 128 bits.
std::int64_t block_start(std::int64_t c, std::int64_t parts, std::int64_t size) {
  return static_cast<std::int64_t>(static_cast<Wide>(c) * size / parts);
}

// Returns how many coordinates of a colour belong to the outer partition, whose pieces this
// partition cuts. The remaining coordinates are the partition's own.
std::size_t outer_dimensions(const Partition& partition) {
  return static_cast<std::size_t>(partition.colors.dimensions() -
                                  partition.own_colors.dimensions());
}
Point outer_color(const Partition& partition, const Point& color) {
  return Point(color.coordinates().first(outer_dimensions(partition)));
}
std::span<const std::int64_t> own_coordinates(const Partition& partition, const Point& color) {
  return color.coordinates().subspan(outer_dimensions(partition));
}

// Returns the piece of a colour, for a partition by equal blocks or by formulas. `own` is the part
// of the colour that belongs to this partition, and `within` is the box that is cut. A halo is
// added after the clipping, and is clipped, too. An empty piece gets no halo.
Rect box_of(const Partition& partition, std::span<const std::int64_t> own, const Rect& within,
            FormulaFault& fault) {
  Rect result = within;
  for (int d = 0; d < within.dimensions(); ++d) {
    const auto i = static_cast<std::size_t>(d);
    const std::int64_t size = within.extents[d];
    std::int64_t lower = 0, extent = 0;
    if (partition.lower.empty()) {
      const std::int64_t parts = partition.own_colors.extents[d];
      lower = block_start(own[i], parts, size);
      extent = block_start(own[i] + 1, parts, size) - lower;
    } else {
      lower = partition.lower[i].value(own, fault);
      extent = partition.extents[i].value(own, fault);
    }
    clip(size, lower, extent);
    if (!partition.halo.empty() && extent > 0) {
      const std::int64_t before = std::min(partition.halo[i], lower);
      const std::int64_t behind = std::min(partition.halo[i], size - lower - extent);
      lower -= before;
      extent += before + behind;
    }
    result.lower[d] = within.lower[d] + lower;
    result.extents[d] = extent;
  }
  return result;
}

// Returns `box`, which is relative to the lower corner of `within`, clipped to `within` and moved
// to its absolute position.
Rect placed(Rect box, const Rect& within) {
  for (int d = 0; d < box.dimensions(); ++d) {
    clip(within.extents[d], box.lower[d], box.extents[d]);
    box.lower[d] += within.lower[d];
  }
  return box;
}

}  // namespace

// Returns the smallest box around the piece of a colour. If the region has no cells, the piece is
// computed from the box of the outer partition's piece. Otherwise make_cells() has stored it.
Rect bounds_of_piece(const Data& data, const Partition& partition, const Point& color,
                     FormulaFault& fault) {
  if (!partition.pieces.empty()) {
    return partition.pieces[static_cast<std::size_t>(row_major_position(partition.colors, color))]
        .box;
  }
  Rect within = data.regions[partition.region].box;
  if (partition.outer >= 0) {
    within = bounds_of_piece(data, data.partitions[static_cast<std::size_t>(partition.outer)],
                             outer_color(partition, color), fault);
  }
  return box_of(partition, own_coordinates(partition, color), within, fault);
}

// Returns the number of points of a piece. Only a region with cells has pieces with holes, for
// which the volume of the box would be too large.
std::int64_t points_of(const Data& data, const Partition& partition, const Point& color,
                       FormulaFault& fault) {
  if (partition.pieces.empty()) return bounds_of_piece(data, partition, color, fault).volume();
  return partition.pieces[static_cast<std::size_t>(row_major_position(partition.colors, color))]
      .cells->points;
}

// Makes a union of boxes: drops empty boxes and sorts the others by their lower corners in the
// first dimension. In one dimension, boxes that touch or overlap are joined.
BoxUnion::BoxUnion(std::vector<Rect> boxes, int dimensions)
    : boxes_(std::move(boxes)), around_{Point::zeros(dimensions), Point::zeros(dimensions)} {
  std::erase_if(boxes_, [](const Rect& box) { return box.volume() == 0; });
  if (boxes_.empty()) return;
  const auto end_of = [](const Rect& box, int d) { return box.lower[d] + box.extents[d]; };
  std::stable_sort(boxes_.begin(), boxes_.end(),
                   [](const Rect& a, const Rect& b) { return a.lower[0] < b.lower[0]; });
  if (dimensions == 1) {
    std::size_t last = 0;
    for (std::size_t i = 1; i < boxes_.size(); ++i) {
      const std::int64_t end = end_of(boxes_[last], 0);
      if (boxes_[i].lower[0] > end) {
        boxes_[++last] = boxes_[i];
      } else {
        boxes_[last].extents[0] = std::max(end, end_of(boxes_[i], 0)) - boxes_[last].lower[0];
      }
    }
    boxes_.resize(last + 1);
  }
  around_ = boxes_.front();
  for (const Rect& box : boxes_) {
    ends_.push_back(std::max(ends_.empty() ? 0 : ends_.back(), end_of(box, 0)));
    for (int d = 0; d < dimensions; ++d) {
      const std::int64_t end = std::max(end_of(around_, d), end_of(box, d));
      around_.lower[d] = std::min(around_.lower[d], box.lower[d]);
      around_.extents[d] = end - around_.lower[d];
    }
  }
}

// Adds the intersections of `box` with the boxes of the union to `parts`. Because the boxes are
// sorted, the search begins at the first box that may reach `box` and ends at the first box behind
// it.
void BoxUnion::add_intersections(const Rect& box, std::vector<Rect>& parts,
                                 StepBudget& steps) const {
  if (box.volume() == 0) return;
  const auto first = std::upper_bound(ends_.begin(), ends_.end(), box.lower[0]);
  for (auto i = static_cast<std::size_t>(first - ends_.begin()); i < boxes_.size(); ++i) {
    if (boxes_[i].lower[0] >= box.lower[0] + box.extents[0]) return;
    if (--steps.left < 0) return;
    const Rect part = common_box(boxes_[i], box);
    if (part.volume() == 0) continue;
    // Too many parts count as a lack of steps, so that the caller reports the piece as too large.
    if (parts.size() == kMaxParts) {
      steps.left = -1;
      return;
    }
    parts.push_back(part);
  }
}

// Computes the piece of a colour, clipped to the data that the partition cuts. A partition by boxes
// has boxes for every colour and boxes of this colour alone. The steps also count the work of the
// formulas.
BoxUnion boxes_of_piece(const Partition& partition, const Point& color, const BoxUnion& outer,
                        FormulaFault& fault, StepBudget& steps) {
  const Rect& within = outer.bounding_box();
  const auto own = own_coordinates(partition, color);
  std::vector<Rect> parts;
  const auto add = [&](const Rect& box) {
    --steps.left;
    outer.add_intersections(box, parts, steps);
  };
  if (!partition.by_boxes) {
    add(box_of(partition, own, within, fault));
    return {std::move(parts), within.dimensions()};
  }
  for (const Partition::Box& each : partition.boxes) {
    if (steps.over()) break;
    Rect box = within;
    for (int d = 0; d < within.dimensions(); ++d) {
      const auto i = static_cast<std::size_t>(d);
      steps.left -= each.lower[i].evaluation_cost() + each.extents[i].evaluation_cost();
      box.lower[d] = each.lower[i].value(own, fault);
      box.extents[d] = each.extents[i].value(own, fault);
    }
    add(placed(box, within));
  }
  const std::int64_t place = row_major_position(partition.colors, color);
  const auto& of_color = partition.boxes_of_color;
  auto each = std::partition_point(of_color.begin(), of_color.end(),
                                   [&](const auto& box) { return box.first < place; });
  for (; each != of_color.end() && each->first == place && !steps.over(); ++each) {
    add(placed(each->second, within));
  }
  return {std::move(parts), within.dimensions()};
}

// Computes the piece of a colour. Computes the pieces of the outer partitions first, from the
// region inwards, because each one is the data that the next partition cuts.
BoxUnion boxes_of_piece(const Data& data, const Partition& partition, const Point& color,
                        FormulaFault& fault) {
  const Rect& region = data.regions[partition.region].box;
  StepBudget steps;
  if (partition.outer < 0) {
    return boxes_of_piece(partition, color, BoxUnion({region}, region.dimensions()), fault, steps);
  }
  const BoxUnion outer =
      boxes_of_piece(data, data.partitions[static_cast<std::size_t>(partition.outer)],
                     outer_color(partition, color), fault);
  return boxes_of_piece(partition, color, outer, fault, steps);
}

// ---- Cells

namespace {

// The numbers of boxes, cells and steps that the computation of cells may still use. All regions
// share these limits.
struct Limits {
  std::int64_t boxes = kMaxPieceBoxes, cells = kMaxPieceCells;
  StepBudget steps;
};

// Finds the cells of one region in four steps. It computes the pieces of all partitions, cuts the
// region into elementary boxes at all edges of the pieces, groups the elementary boxes into cells,
// and numbers the cells.
class CellMaker {
 public:
  // `limits` and `time` are shared by all regions and are reduced. make() fills the cells of the
  // region and the pieces of its partitions.
  CellMaker(Data& data, std::uint32_t region, Limits& limits, Budget& time)
      : data_(data),
        region_(data.regions[region]),
        number_(region),
        dimensions_(static_cast<std::size_t>(region_.box.dimensions())),
        limits_(limits),
        time_(time),
        cuts_(data.partitions.size()) {}

  // Finds the cells. Returns an error if a formula has no value or a limit is exceeded. Returns
  // nullopt on success and also if the time is over.
  std::optional<CellFault> make() {
    for (std::size_t p = 0; p < data_.partitions.size(); ++p) {
      if (data_.partitions[p].region != number_ || cut_pieces(p)) continue;
      if (time_.exceeded()) return std::nullopt;
      return fault_;
    }
    if (make_grid() && split_cells() && number_cells()) return std::nullopt;
    return fault_;
  }

 private:
  bool fail(std::size_t partition, std::string why, bool too_large = false) {
    fault_ = {partition, std::move(why), too_large};
    return false;
  }
  // Reports an exceeded limit. The error is located at the first partition of the region that is
  // described by boxes, because without such a partition there would be no cells.
  bool fail_too_large(const char* what, std::int64_t most) {
    std::size_t p = 0;
    while (data_.partitions[p].region != number_ || !data_.partitions[p].by_boxes) ++p;
    return fail(
        p,
        fmt::format("with the pieces of `{}` there are more than {} {}", region_.name, most, what),
        true);
  }

  // Computes the pieces of a partition, after the pieces of the partition that it cuts. Does
  // nothing if they exist already. Returns false if a limit or the time is exceeded or a formula
  // has no value.
  bool cut_pieces(std::size_t number) {
    const Partition& partition = data_.partitions[number];
    std::vector<BoxUnion>& made = cuts_[number];
    if (!made.empty() || partition.colors.volume() == 0) return true;
    if (partition.colors.volume() > limits_.boxes) return fail_too_large("boxes", kMaxPieceBoxes);
    std::vector<BoxUnion> whole;
    const std::vector<BoxUnion>* outer = &whole;
    if (partition.outer >= 0) {
      if (!cut_pieces(static_cast<std::size_t>(partition.outer))) return false;
      outer = &cuts_[static_cast<std::size_t>(partition.outer)];
    } else {
      whole.emplace_back(std::vector<Rect>{region_.box}, region_.box.dimensions());
    }
    std::vector<BoxUnion> pieces;
    pieces.reserve(static_cast<std::size_t>(partition.colors.volume()));
    // Colours are visited in row-major order, so consecutive colours share the piece of the outer
    // partition.
    const auto of_each = static_cast<std::size_t>(partition.own_colors.volume());
    Point color = partition.colors.lower;
    do {
      FormulaFault fault = FormulaFault::kNone;
      const std::int64_t before = limits_.steps.left;
      pieces.push_back(boxes_of_piece(partition, color, (*outer)[pieces.size() / of_each], fault,
                                      limits_.steps));
      if (time_.spend(1 + before - limits_.steps.left)) return false;
      if (fault != FormulaFault::kNone) {
        return fail(number, fmt::format("the piece {}: {}", text_of(color), words_of(fault)));
      }
      limits_.boxes -= std::max<std::int64_t>(1, std::ssize(pieces.back().boxes()));
      if (limits_.boxes < 0) return fail_too_large("boxes", kMaxPieceBoxes);
      if (limits_.steps.over()) return fail_too_large("boxes to compare", kMaxPieceSteps);
    } while (next_point(partition.colors, &color));
    made = std::move(pieces);
    return true;
  }

  // Calls use(partition, position of the colour, piece) for all pieces of the region.
  template <typename Use>
  void for_pieces(const Use& use) {
    for (std::size_t p = 0; p < cuts_.size(); ++p) {
      for (std::size_t i = 0; i < cuts_[p].size(); ++i) use(p, i, cuts_[p][i]);
    }
  }

  // Divides the region into elementary boxes: the region is cut wherever a box of a piece begins or
  // ends. All points of an elementary box belong to the same pieces. Returns false if there would
  // be too many.
  bool make_grid() {
    grid_.resize(dimensions_);
    const auto add = [&](const Rect& box) {
      for (std::size_t d = 0; d < dimensions_; ++d) {
        const auto i = static_cast<int>(d);
        grid_[d].push_back(box.lower[i]);
        grid_[d].push_back(box.lower[i] + box.extents[i]);
      }
    };
    add(region_.box);
    for_pieces([&](std::size_t, std::size_t, const BoxUnion& piece) {
      for (const Rect& box : piece.boxes()) add(box);
    });
    strides_.assign(dimensions_, 1);
    for (std::size_t d = dimensions_; d-- > 0;) {
      std::vector<std::int64_t>& line = grid_[d];
      std::sort(line.begin(), line.end());
      line.erase(std::unique(line.begin(), line.end()), line.end());
      strides_[d] = count_;
      if (__builtin_mul_overflow(count_, std::ssize(line) - 1, &count_) || count_ > limits_.cells) {
        return fail_too_large("parts", kMaxPieceCells);
      }
    }
    limits_.cells -= count_;
    return true;
  }

  // Calls use(elementary box, points) for the elementary boxes within `box`, in row-major order. An
  // elementary box lies between neighbouring cuts in each dimension; `points` is its number of
  // points.
  template <typename Use>
  void for_elementary(const Rect& box, const Use& use) const {
    visit(box, 0, 0, 1, use);
  }
  // Visits the elementary boxes dimension by dimension. The dimensions before `d` are fixed: `at`
  // is the index of the first elementary box there, and `points` is the product of its extents so
  // far.
  template <typename Use>
  void visit(const Rect& box, std::size_t d, std::int64_t at, std::int64_t points,
             const Use& use) const {
    const std::vector<std::int64_t>& line = grid_[d];
    const std::int64_t begin = box.lower[static_cast<int>(d)];
    const std::int64_t end = begin + box.extents[static_cast<int>(d)];
    auto i =
        static_cast<std::size_t>(std::lower_bound(line.begin(), line.end(), begin) - line.begin());
    for (; i + 1 < line.size() && line[i] < end; ++i) {
      const std::int64_t next = at + static_cast<std::int64_t>(i) * strides_[d];
      const std::int64_t volume = points * (line[i + 1] - line[i]);
      if (d + 1 == dimensions_) {
        use(static_cast<std::size_t>(next), volume);
      } else {
        visit(box, d + 1, next, volume, use);
      }
    }
  }

  // Groups the elementary boxes into cells. Starts with one cell that has all points. Each piece
  // splits every cell of which it has only some points: the points within the piece become a new
  // cell.
  bool split_cells() {
    struct Cell {
      // The number of elementary boxes in this cell.
      std::int64_t boxes = 0;
      // The number of the last piece that split the cell, and the cell that this piece split off.
      std::uint32_t split_by = 0;
      std::uint32_t split_off = 0;
      // The piece whose split made this cell.
      std::uint32_t made_by = 0;
    };
    cell_of_.assign(static_cast<std::size_t>(count_), 0);
    std::vector<Cell> cells(1);
    cells[0].boxes = count_;
    // `empty` lists cells that have lost all their boxes; their numbers are used again. `touched`
    // lists the cells that the current piece has split.
    std::vector<std::uint32_t> empty, touched;
    std::uint32_t piece = 0;
    for_pieces([&](std::size_t, std::size_t, const BoxUnion& cut) {
      ++piece;
      touched.clear();
      for (const Rect& box : cut.boxes()) {
        if (limits_.steps.over()) return;
        for_elementary(box, [&](std::size_t at, std::int64_t) {
          --limits_.steps.left;
          const std::uint32_t from = cell_of_[at];
          // An overlapping box of the same piece has already moved this elementary box.
          if (cells[from].made_by == piece) return;
          if (cells[from].split_by != piece) {
            std::uint32_t made = 0;
            if (empty.empty()) {
              made = static_cast<std::uint32_t>(cells.size());
              cells.emplace_back();
            } else {
              made = empty.back();
              empty.pop_back();
            }
            cells[made].made_by = piece;
            cells[from].split_by = piece;
            cells[from].split_off = made;
            touched.push_back(from);
          }
          const std::uint32_t to = cells[from].split_off;
          --cells[from].boxes;
          ++cells[to].boxes;
          cell_of_[at] = to;
        });
      }
      for (const std::uint32_t each : touched) {
        if (cells[each].boxes == 0) empty.push_back(each);
      }
    });
    return !limits_.steps.over() || fail_too_large("parts to compare", kMaxPieceSteps);
  }

  // Numbers the cells in the row-major order of their first points, and stores the cells of each
  // piece in its partition. Returns false if a limit is exceeded.
  bool number_cells() {
    constexpr std::uint32_t kNone = UINT32_MAX;
    std::vector<std::uint32_t> numbers(
        cell_of_.empty() ? 0 : *std::max_element(cell_of_.begin(), cell_of_.end()) + 1, kNone);
    std::vector<std::int64_t>& points = region_.cell_points;
    for_elementary(region_.box, [&](std::size_t at, std::int64_t volume) {
      std::uint32_t& number = numbers[cell_of_[at]];
      if (number == kNone) {
        number = static_cast<std::uint32_t>(points.size());
        points.push_back(0);
      }
      cell_of_[at] = number;
      points[number] += volume;
    });
    std::vector<std::uint32_t> all(points.size());
    std::iota(all.begin(), all.end(), 0);
    region_.all_cells = std::make_shared<const CellSet>(cell_set(points, std::move(all)));
    std::vector<std::uint32_t> seen_by(points.size(), 0);
    std::uint32_t piece = 0;
    bool fits = true;
    for_pieces([&](std::size_t partition, std::size_t, const BoxUnion& cut) {
      ++piece;
      std::vector<std::uint32_t> cells;
      for (const Rect& box : cut.boxes()) {
        if (!fits) return;
        for_elementary(box, [&](std::size_t at, std::int64_t) {
          --limits_.steps.left;
          if (std::exchange(seen_by[cell_of_[at]], piece) != piece) cells.push_back(cell_of_[at]);
        });
        fits = !limits_.steps.over() && std::ssize(cells) <= limits_.cells;
      }
      limits_.cells -= std::ssize(cells);
      std::sort(cells.begin(), cells.end());
      data_.partitions[partition].pieces.push_back(
          {cut.bounding_box(),
           std::make_shared<const CellSet>(cell_set(points, std::move(cells)))});
    });
    return fits || fail_too_large("parts in all pieces", kMaxPieceCells);
  }

  Data& data_;
  Region& region_;
  const std::uint32_t number_;
  const std::size_t dimensions_;
  Limits& limits_;
  Budget& time_;
  // The piece of each partition and colour; empty for partitions of other regions.
  std::vector<std::vector<BoxUnion>> cuts_;
  // For each dimension, the coordinates where elementary boxes begin, and the end of the last one.
  std::vector<std::vector<std::int64_t>> grid_;
  std::vector<std::int64_t> strides_;
  // The number of elementary boxes of the region.
  std::int64_t count_ = 1;
  // The cell to which each elementary box belongs.
  std::vector<std::uint32_t> cell_of_;
  CellFault fault_;
};

}  // namespace

// Finds the cells of each region that has a partition by boxes. The other regions need none,
// because their pieces are boxes.
std::optional<CellFault> make_cells(Data& data, Budget& time) {
  Limits limits;
  for (std::uint32_t region = 0; region < data.regions.size(); ++region) {
    const bool has_cells =
        std::any_of(data.partitions.begin(), data.partitions.end(),
                    [&](const Partition& each) { return each.region == region && each.by_boxes; });
    if (!has_cells) continue;
    if (auto fault = CellMaker(data, region, limits, time).make()) return fault;
    if (time.exceeded()) break;
  }
  return std::nullopt;
}

}  // namespace groma::app
