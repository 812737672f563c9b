// Spaces: what can be told apart of an application's data. Every region is cut into cells: the
// finest boxes that the pieces of its partitions make of it, or, where pieces have holes, the sets
// of points that belong to the same pieces (app/cells.h). Its fields are in groups that every
// requirement takes whole or not at all.
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

// Cells from lower to before upper, in each dimension.
struct CellRange {
  std::array<std::int32_t, kMaxDimensions> lower{};
  std::array<std::int32_t, kMaxDimensions> upper{};
};

// A region, a piece of it, or what an instance holds.
struct Piece {
  Rect box;                                      // the smallest around its points
  CellRange cells;                               // of a region whose pieces are boxes
  std::shared_ptr<const app::CellSet> set = {};  // of a region that has cells, else null

  std::int64_t points() const { return set ? set->points : box.volume(); }
  // For how many points an instance of it has room: one that is not compact for the whole box.
  std::int64_t points_held(const LayoutSpec& layout) const {
    return layout.compact ? points() : box.volume();
  }
};

// Null, what is not described, has no dimensions.
inline app::PieceSize size_of(const Piece* piece) {
  static const Rect none;
  return piece == nullptr ? app::PieceSize{&none, 1} : app::PieceSize{&piece->box, piece->points()};
}

struct RegionSpace {
  int dimensions = 1;
  // By dimension: where boxes around pieces begin and end. Of a region without sets of cells these
  // are the lower corners of its cells, and the end.
  std::vector<std::vector<std::int64_t>> cuts;
  std::vector<std::int64_t> strides;  // row-major
  std::int64_t cells = 1;
  std::span<const std::int64_t> cell_points;  // of a region that has cells (app::Region), else none
  Piece whole;
  std::vector<std::int64_t> group_bytes;  // of one element
  std::vector<std::vector<std::uint32_t>> group_fields;
  struct Fields {
    std::int64_t bytes = 0;  // of one element of each
    std::size_t group = 0;
    std::int64_t count = 0;
  };
  std::vector<Fields> by_size;  // the largest first, as Legion lays them
  std::uint64_t all_groups = 0;

  std::int64_t bytes_of(std::uint64_t groups) const;  // of one element
  // Of a point whose fields lie together (AOS), each at an address that is aligned: from one to the
  // next.
  std::int64_t point_bytes(std::uint64_t groups, const LayoutSpec& layout) const;
  // Of an instance of so many points. INT64_MAX: that many, or more.
  std::int64_t instance_bytes(std::uint64_t groups, const LayoutSpec& layout,
                              std::int64_t points) const;
  std::vector<std::uint32_t> fields_of(std::uint64_t groups) const;  // in their order
  std::uint64_t group_of(std::uint32_t field) const;                 // 0: no such field
  // As an instance of these groups has it: of one field there is no order.
  LayoutSpec layout(LayoutSpec wanted, std::uint64_t groups) const;
  // Calls use(cell, points) for every cell of the piece that has points, as long as that says true.
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
  // Arrays of so many elements, one of each field: where the last one ends, and the largest of
  // their alignments.
  std::pair<std::int64_t, std::int64_t> lay(std::uint64_t groups, std::int64_t elements,
                                            const LayoutSpec& layout) const;
  // False where `use` said so.
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

// All of them are about pieces of one region.
// Returns true if they have a point in common.
bool meet(const Piece& a, const Piece& b);
// Returns true if the outer piece has all points of the inner one. An empty one has none.
bool within(const Piece& inner, const Piece& outer);
// Returns true if they are the same box, and have the same points of it.
bool same(const Piece& a, const Piece& b);
// What an instance for both holds, neither of them empty: of a region that has cells the points of
// both, of others the smallest box around them.
Piece around(const RegionSpace& space, const Piece& a, const Piece& b);

// Why there are no Spaces.
struct SpacesFailure {
  RunStatus status = RunStatus::kExecuteError;
  std::string why;  // empty where the budget was exceeded
};

// What a run, or a part of one, says that needs more memory than it may have.
std::string too_little_memory(std::int64_t max_bytes);
inline constexpr std::string_view kHelpWithMemory =
    "fewer pieces, fields or points need less; `--memory` allows more";

class Spaces {
 public:
  // Nothing, and why in `failure`, where a formula has no value, there are more pieces or cells
  // than can be kept (kExecuteError), they take more than `max_bytes` of memory (kTooLarge), or
  // `budget` is exceeded (kStopped).
  static std::optional<Spaces> make(const app::Data& data, std::int64_t max_bytes, Budget& budget,
                                    SpacesFailure& failure);

  const RegionSpace& region(std::uint32_t region) const { return regions_[region]; }
  // `color`: the place of the colour in its partition's colours, row-major.
  const Piece& piece(std::uint32_t partition, std::int64_t color) const {
    return pieces_[partition][static_cast<std::size_t>(color)];
  }
  std::int64_t color_of(std::uint32_t partition, const Piece& piece) const {
    return &piece - pieces_[partition].data();
  }
  // The groups of requirement r of the launch with that number.
  std::uint64_t groups(std::uint32_t launch, std::size_t r) const { return groups_[launch][r]; }
  // Whether requirement a of the one launch and b of the other may want the same data, each in the
  // other's way: of one region, with common groups. False where the data is not known before.
  bool interfere(const app::Launch& one, std::size_t a, const app::Launch& other,
                 std::size_t b) const;
  // Pairs of requirements of that launch, the first before the second, that are in each other's way
  // wherever their pieces meet.
  using Pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
  const Pairs& clashes(std::uint32_t launch) const { return clashes_[launch]; }
  std::uint64_t groups_of_top_level(std::size_t r) const { return groups_.back()[r]; }
  std::int64_t bytes() const { return bytes_; }  // of memory

 private:
  // What stands in the way of making them.
  struct Making {
    const app::Data& data;
    const std::int64_t max_bytes;
    Budget& budget;
    SpacesFailure& failure;

    bool fail(std::string why) const {
      failure.why = std::move(why);
      return false;
    }
    // Whether to go on after so much work.
    bool spend(std::int64_t units) const {
      if (budget.spend(units)) failure.status = RunStatus::kStopped;
      return !budget.exceeded();
    }
  };
  bool make_pieces(const Making& making);
  bool make_cells(const Making& making);
  bool cut(const Making& making, std::size_t region, const std::vector<const Piece*>& pieces);
  bool make_groups(const Making& making);
  void group_fields(const app::Region& fields, RegionSpace& space,
                    const std::vector<std::vector<std::uint32_t>>& sets);
  bool find_clashes(const Making& making, const app::Launch& launch);
  bool take(const Making& making, std::int64_t bytes);

  std::vector<RegionSpace> regions_;
  std::vector<std::vector<Piece>> pieces_;          // by partition
  std::vector<std::vector<std::uint64_t>> groups_;  // by launch, by requirement
  std::vector<Pairs> clashes_;                      // by launch
  std::int64_t bytes_ = 0;                          // of memory, as it is taken
};

// The place of a colour; nothing when it is none of the partition's.
std::optional<std::int64_t> color_index(const app::Partition& partition, const Point& color);

}  // namespace groma::sim
