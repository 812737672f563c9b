// DataSpaces: the parts of an application's data that a run distinguishes. Every region is cut into
// cells. Cells are the finest boxes into which the pieces of the region's partitions cut it. If
// pieces have holes, cells are the sets of points that belong to the same pieces (app/cells.h). The
// fields of a region are in groups; every requirement uses a group completely or not at all.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "app/data.h"
#include "base/budget.h"
#include "groma/geometry.h"
#include "groma/kinds.h"
#include "groma/simulate.h"

namespace groma::sim {

// A box of cells. In each dimension, it contains the cells with the numbers from `lower` to `upper`
// - 1.
struct CellRange {
  std::array<std::int32_t, kMaxDimensions> lower{};
  std::array<std::int32_t, kMaxDimensions> upper{};
};

// A set of points of a region: the whole region, a piece of it, or the contents of an instance.
struct Piece {
  // The smallest box around the points of the piece.
  Rect box;
  // The cells of the piece. Used only if the pieces of the region are boxes.
  CellRange cells;
  // The cells of the piece if the pieces of the region may have holes (app/cells.h); else null.
  std::shared_ptr<const app::CellSet> set = {};

  std::int64_t points() const { return set ? set->points : box.volume(); }
  // Returns the number of points for which an instance has room. A layout that is not compact has
  // room for the whole box.
  std::int64_t points_with_room(const LayoutSpec& layout) const {
    return layout.compact ? points() : box.volume();
  }
};

// Returns the size of a piece. Null stands for data that the application does not describe; the
// result is then a size without dimensions.
inline app::PieceSize size_of(const Piece* piece) {
  static const Rect none;
  return piece == nullptr ? app::PieceSize{&none, 1} : app::PieceSize{&piece->box, piece->points()};
}

// A region with its cells and its groups of fields.
struct RegionSpace {
  int dimensions = 1;
  // For each dimension: the coordinates at which the boxes around pieces begin and end. If the
  // region has no cell sets, its cells begin at these coordinates, and the last coordinate is the
  // end of the last cells.
  std::vector<std::vector<std::int64_t>> cuts;
  // The row-major strides of the numbers of cells, one for each dimension.
  std::vector<std::int64_t> strides;
  std::int64_t cells = 1;
  // The number of points of each cell, if the pieces of the region may have holes; else empty.
  std::span<const std::int64_t> cell_points;
  Piece whole;
  // For each group of fields: the bytes of one point.
  std::vector<std::int64_t> group_bytes;
  std::vector<std::vector<std::uint32_t>> group_fields;
  struct Fields {
    // The bytes of one point in each of these fields.
    std::int64_t bytes = 0;
    std::size_t group = 0;
    std::int64_t count = 0;
  };
  // The fields of the region by their size, the largest first, as in Legion's layouts.
  std::vector<Fields> by_size;
  std::uint64_t all_groups = 0;

  // Returns the bytes of one point in all fields of the groups (a bit mask).
  std::int64_t bytes_of(std::uint64_t groups) const;
  // Returns the distance in bytes between two neighbouring points of an instance in which all
  // fields of a point lie together (AOS) and each point begins at an aligned address.
  std::int64_t point_bytes(std::uint64_t groups, const LayoutSpec& layout) const;
  // Returns the bytes of an instance with this number of points. INT64_MAX means that many bytes,
  // or more.
  std::int64_t instance_bytes(std::uint64_t groups, const LayoutSpec& layout,
                              std::int64_t points) const;
  // Returns the fields of the groups (a bit mask) in ascending order.
  std::vector<std::uint32_t> fields_of(std::uint64_t groups) const;
  // Returns the bit mask of the group that holds the field, or 0 for an unknown field.
  std::uint64_t group_of(std::uint32_t field) const;
  // Returns the layout that an instance with these groups gets if `wanted` is asked for. With one
  // field, the order of fields does not matter, so the result has SOA.
  LayoutSpec layout(LayoutSpec wanted, std::uint64_t groups) const;
  // Calls use(cell, points) for every cell of the piece that contains points. `cell` is the number
  // of the cell, and `points` the number of its points. Stops if `use` returns false.
  template <typename Use>
  void for_cells(const Piece& piece, const Use& use) const {
    if (piece.set == nullptr) {
      visit(piece.cells, 0, 0, 1, use);
      return;
    }
    for (const std::uint32_t cell : piece.set->cells) {
      if (!use(std::int64_t{cell}, cell_points[cell])) return;
    }
  }

 private:
  // Computes the layout of arrays of `elements` elements, one for each field of the groups. Returns
  // the end of the last array and the largest alignment of an array, both in bytes.
  std::pair<std::int64_t, std::int64_t> lay_out_fields(std::uint64_t groups, std::int64_t elements,
                                                       const LayoutSpec& layout) const;
  // Calls use(cell, points) for the cells of a range. The function calls itself for each dimension;
  // this call handles the dimensions from `d` on. Returns false if `use` returned false.
  template <typename Use>
  bool visit(const CellRange& range, int d, std::int64_t at, std::int64_t points,
             const Use& use) const {
    const auto i = static_cast<std::size_t>(d);
    const std::vector<std::int64_t>& cut = cuts[i];
    for (std::int32_t c = range.lower[i]; c < range.upper[i]; ++c) {
      const auto k = static_cast<std::size_t>(c);
      const std::int64_t cell = at + c * strides[i];
      const std::int64_t volume = points * (cut[k + 1] - cut[k]);
      const bool more =
          d + 1 == dimensions ? use(cell, volume) : visit(range, d + 1, cell, volume, use);
      if (!more) return false;
    }
    return true;
  }
};

// The four functions overlap(), is_covered_by(), have_same_points() and piece_covering_both() take
// two pieces of the same region. overlap() returns true if the pieces have a common point.
bool overlap(const Piece& a, const Piece& b);
// Returns true if the piece `outer` has all points of the piece `inner`. An empty piece has no
// points.
bool is_covered_by(const Piece& inner, const Piece& outer);
// Returns true if both pieces have the same box and the same points.
bool have_same_points(const Piece& a, const Piece& b);
// Returns the contents of an instance that covers two pieces, neither of which is empty. If the
// pieces of the region may have holes, the contents are the union of the points, otherwise the
// smallest box around both pieces.
Piece piece_covering_both(const RegionSpace& space, const Piece& a, const Piece& b);

// The reason why DataSpaces could not be made.
struct SpacesFailure {
  RunStatus status = RunStatus::kExecuteError;
  // The reason in words. Empty: the budget was exceeded.
  std::string why;
};

// Returns the message for a run, or a part of a run, that needs more memory than allowed.
std::string too_little_memory(std::int64_t max_bytes);
inline constexpr std::string_view kHelpWithMemory =
    "a smaller machine, fewer pieces, fields or points need less; `--memory` allows more";

class DataSpaces {
 public:
  // Makes the spaces of an application. Returns nullopt and sets `failure` if a formula has no
  // value or there are more pieces or cells than can be kept (kExecuteError), if they take more
  // than `max_bytes` of memory (kTooLarge), or if `budget` is exceeded (kStopped).
  static std::optional<DataSpaces> make(const app::Data& data, std::int64_t max_bytes,
                                        Budget& budget, SpacesFailure& failure);

  const RegionSpace& region(std::uint32_t region) const { return regions_[region]; }
  // Returns a piece of a partition. `color` is the row-major position of the colour of the piece in
  // the colours of the partition.
  const Piece& piece(std::uint32_t partition, std::int64_t color) const {
    return pieces_[partition][static_cast<std::size_t>(color)];
  }
  std::int64_t color_of(std::uint32_t partition, const Piece& piece) const {
    return &piece - pieces_[partition].data();
  }
  // Returns the bit mask of the groups of fields that requirement r of the launch with this number
  // uses.
  std::uint64_t groups(std::uint32_t launch, std::size_t r) const { return groups_[launch][r]; }
  // Returns true if requirement a of `one` and b of `other` may conflict: they have the same region
  // and common groups. Returns false if the data is not known in advance.
  bool interfere(const app::Launch& one, std::size_t a, const app::Launch& other,
                 std::size_t b) const;
  // The pairs of requirements of a launch that conflict if their pieces have a common point. The
  // smaller position comes first in a pair.
  using Pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
  const Pairs& conflicting_requirements(std::uint32_t launch) const { return clashes_[launch]; }
  std::uint64_t field_groups_of_top_level(std::size_t r) const { return groups_.back()[r]; }
  // Returns the memory of this object in bytes.
  std::int64_t bytes() const { return bytes_; }

 private:
  // The arguments and limits of make().
  struct MakeArguments {
    const app::Data& data;
    const std::int64_t max_bytes;
    Budget& budget;
    SpacesFailure& failure;

    bool fail(std::string why) const {
      failure.why = std::move(why);
      return false;
    }
    // Counts work on the budget. Returns false if the work must stop.
    bool spend(std::int64_t units) const {
      if (budget.spend(units)) failure.status = RunStatus::kStopped;
      return !budget.exceeded();
    }
  };
  bool make_pieces(const MakeArguments& making);
  bool make_cells(const MakeArguments& making);
  bool cut(const MakeArguments& making, std::size_t region,
           const std::vector<const Piece*>& pieces);
  bool make_groups(const MakeArguments& making);
  void group_fields(const app::Region& fields, RegionSpace& space,
                    const std::vector<std::vector<std::uint32_t>>& sets);
  bool find_conflicting_requirements(const MakeArguments& making, const app::Launch& launch);
  bool add_to_counted_memory(const MakeArguments& making, std::int64_t bytes);

  std::vector<RegionSpace> regions_;
  // For each partition: its pieces, by the row-major position of their colours.
  std::vector<std::vector<Piece>> pieces_;
  // For each launch and requirement: the bit mask of its groups. The last entry is for the
  // top-level task.
  std::vector<std::vector<std::uint64_t>> groups_;
  // For each launch: the pairs of requirements that may conflict.
  std::vector<Pairs> clashes_;
  // The memory of this object in bytes, counted before it is taken.
  std::int64_t bytes_ = 0;
};

// Returns the row-major position of a colour in a partition, or nullopt if the partition does not
// have the colour.
std::optional<std::int64_t> color_index(const app::Partition& partition, const Point& color);

}  // namespace groma::sim
