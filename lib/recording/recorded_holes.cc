// Renumbers the points of one-dimensional regions whose pieces have holes, so that the pieces
// consist of far fewer boxes.
#include "recording/recorded_holes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <utility>

#include "app/pieces.h"
#include "base/random.h"

namespace groma::app {
namespace {

// Limit on the parts of pieces that are visited.
constexpr std::int64_t kMaxSteps = std::int64_t{1} << 26;

// Renumbers the points of one region of one dimension. Points that belong to the same pieces form a
// cell. The new numbers are the points of the first cell, then those of the second cell, and so on.
class PointRenumbering {
 public:
  // Collects the pieces of the region as unions of boxes.
  PointRenumbering(Events& events, std::uint32_t region) : region_(events.regions[region]) {
    for (Events::Partition& partition : events.partitions) {
      if (partition.region != region) continue;
      for (Events::Piece& piece : partition.pieces) {
        std::vector<Rect> boxes = piece.boxes;
        if (boxes.empty() && piece.points > 0) boxes.push_back(piece.bounds);
        pieces_.push_back({&piece, BoxUnion(std::move(boxes), 1)});
      }
    }
  }

  // Renumbers the points of the region, which changes its pieces. Returns false, and changes
  // nothing, if this would take too long.
  bool renumber() {
    find_parts();
    find_cells();
    for (const CutPiece& each : pieces_) {
      if (!look_at(each)) return false;
    }
    for (std::size_t i = 0; i < pieces_.size(); ++i) write(*pieces_[i].piece, cells_of_[i]);
    return true;
  }

 private:
  struct CutPiece {
    Events::Piece* piece;
    BoxUnion cut;
  };

  static std::int64_t end_of(const Rect& box) { return box.lower[0] + box.extents[0]; }
  // Returns the position of a coordinate in `ends_`, which is the number of the part that begins
  // there.
  std::size_t part_at(std::int64_t x) const {
    return static_cast<std::size_t>(std::lower_bound(ends_.begin(), ends_.end(), x) -
                                    ends_.begin());
  }

  // Divides the region into parts at the ends of all boxes. All points between two neighbouring
  // values of `ends_` belong to the same pieces.
  void find_parts() {
    ends_ = {region_.bounds.lower[0], end_of(region_.bounds)};
    for (const CutPiece& each : pieces_) {
      for (const Rect& box : each.cut.boxes()) {
        ends_.push_back(box.lower[0]);
        ends_.push_back(end_of(box));
      }
    }
    std::sort(ends_.begin(), ends_.end());
    ends_.erase(std::unique(ends_.begin(), ends_.end()), ends_.end());
  }

  // Joins the parts that belong to the same pieces to one cell. Each piece gets a random number.
  // The sum of the numbers of all pieces of a part identifies the part's cell. Two sums of 64 bits
  // make it practically impossible that different sets of pieces have equal sums.
  void find_cells() {
    using Sum = std::pair<std::uint64_t, std::uint64_t>;
    const std::size_t parts = ends_.size() - 1;
    std::vector<Sum> changes(parts + 1);
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      const Sum own{random_at(1, i), random_at(2, i)};
      for (const Rect& box : pieces_[i].cut.boxes()) {
        Sum &first = changes[part_at(box.lower[0])], &behind = changes[part_at(end_of(box))];
        first = {first.first + own.first, first.second + own.second};
        behind = {behind.first - own.first, behind.second - own.second};
      }
    }
    std::map<Sum, std::uint32_t> known;
    std::vector<std::int64_t> sizes;
    Sum sum;
    for (std::size_t part = 0; part < parts; ++part) {
      sum = {sum.first + changes[part].first, sum.second + changes[part].second};
      const auto [cell, is_new] = known.emplace(sum, static_cast<std::uint32_t>(sizes.size()));
      if (is_new) sizes.push_back(0);
      sizes[cell->second] += ends_[part + 1] - ends_[part];
      cell_of_.push_back(cell->second);
    }
    begins_.push_back(ends_.front());
    for (const std::int64_t size : sizes) begins_.push_back(begins_.back() + size);
    seen_by_.assign(sizes.size(), 0);
  }

  // Lists the cells of a piece, without repetitions. Returns false if the steps are used up.
  bool look_at(const CutPiece& piece) {
    std::vector<std::uint32_t>& cells = cells_of_.emplace_back();
    for (const Rect& box : piece.cut.boxes()) {
      const std::size_t end = part_at(end_of(box));
      for (std::size_t part = part_at(box.lower[0]); part < end; ++part) {
        if (++steps_ > kMaxSteps) return false;
        const std::uint32_t cell = cell_of_[part];
        if (std::exchange(seen_by_[cell], cells_of_.size()) != cells_of_.size()) {
          cells.push_back(cell);
        }
      }
    }
    std::sort(cells.begin(), cells.end());
    return true;
  }

  // Writes a piece as the boxes of its renumbered cells. Neighbouring cells are joined to one box.
  void write(Events::Piece& piece, const std::vector<std::uint32_t>& cells) const {
    std::vector<Rect> boxes;
    for (const std::uint32_t cell : cells) {
      boxes.push_back({Point{begins_[cell]}, Point{begins_[cell + 1] - begins_[cell]}});
    }
    const BoxUnion cut(std::move(boxes), 1);
    if (cut.boxes().empty()) return;
    piece.bounds = cut.bounding_box();
    piece.boxes.clear();
    if (cut.boxes().size() > 1) piece.boxes = cut.boxes();
  }

  const Events::Region& region_;
  std::vector<CutPiece> pieces_;
  // The coordinates at which the region is divided into parts, in ascending order.
  std::vector<std::int64_t> ends_;
  // For each part of the region, the number of the cell to which it belongs.
  std::vector<std::uint32_t> cell_of_;
  // The first new number of each cell, and the end of the last cell.
  std::vector<std::int64_t> begins_;
  // For each cell, the number of the last piece that contains the cell, counted from 1.
  std::vector<std::size_t> seen_by_;
  // For each piece, the numbers of its cells.
  std::vector<std::vector<std::uint32_t>> cells_of_;
  std::int64_t steps_ = 0;
};

}  // namespace

// Counts the boxes of all recorded pieces. Only pieces with holes have recorded boxes.
std::size_t count_boxes_of_pieces_with_holes(const Events& events) {
  std::size_t boxes = 0;
  for (const Events::Partition& partition : events.partitions) {
    for (const Events::Piece& piece : partition.pieces) boxes += piece.boxes.size();
  }
  return boxes;
}

// Renumbers the points of every region of one dimension whose pieces have holes, and adds a note
// for each.
void renumber_points(Events& events, std::vector<std::string>& notes) {
  std::vector<std::size_t> boxes(events.regions.size());
  for (const Events::Partition& partition : events.partitions) {
    for (const Events::Piece& piece : partition.pieces) {
      boxes[partition.region] += piece.boxes.size();
    }
  }
  for (std::uint32_t r = 0; r < events.regions.size(); ++r) {
    const Events::Region& region = events.regions[r];
    if (boxes[r] == 0 || region.bounds.dimensions() != 1) continue;
    if (!PointRenumbering(events, r).renumber()) continue;
    notes.push_back(fmt::format(
        "the pieces of `{}` are {} boxes, which is too many: its points are numbered anew, so that "
        "points of the same pieces lie side by side; pieces keep their sizes and overlaps, but lie "
        "closer together than in the program",
        region.name.empty() ? fmt::format("region_{}", r + 1) : region.name, boxes[r]));
  }
}

// Removes the boxes of all pieces. A piece is then described by its bounds and its number of
// points.
void drop_boxes_of_pieces_with_holes(Events& events) {
  for (Events::Partition& partition : events.partitions) {
    for (Events::Piece& piece : partition.pieces) piece.boxes.clear();
  }
}

}  // namespace groma::app
