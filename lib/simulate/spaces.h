// Spaces: what can be told apart of an application's data. Every region is cut into cells, the
// finest boxes that the pieces of its partitions make of it, and its fields into groups that every
// requirement takes whole or not at all.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/data.h"
#include "groma/geometry.h"
#include "groma/kinds.h"

namespace groma::sim {

// Cells from lower to before upper, in each dimension.
struct CellRange {
  std::array<std::int32_t, kMaxDimensions> lower{};
  std::array<std::int32_t, kMaxDimensions> upper{};
};

struct Piece {
  Rect box;
  CellRange cells;
};

// Null, what is not described, has no dimensions.
inline const Rect& box_of(const Piece* piece) {
  static const Rect none;
  return piece == nullptr ? none : piece->box;
}

struct RegionSpace {
  int dimensions = 1;
  std::vector<std::vector<std::int64_t>> cuts;  // by dimension: lower corners of cells, and the end
  std::vector<std::int64_t> strides;            // row-major
  std::int64_t cells = 1;
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
  // Calls use(cell, points) for every cell of the range that is not empty.
  template <typename Use>
  void for_cells(const CellRange& range, const Use& use) const {
    visit(range, 0, 0, 1, use);
  }

 private:
  // Arrays of so many elements, one of each field: where the last one ends, and the largest of
  // their alignments.
  std::pair<std::int64_t, std::int64_t> lay(std::uint64_t groups, std::int64_t elements,
                                            const LayoutSpec& layout) const;
  template <typename Use>
  void visit(const CellRange& range, int d, std::int64_t at, std::int64_t points,
             const Use& use) const {
    const auto i = static_cast<std::size_t>(d);
    const std::vector<std::int64_t>& cut = cuts[i];
    for (std::int32_t c = range.lower[i]; c < range.upper[i]; ++c) {
      const auto k = static_cast<std::size_t>(c);
      const std::int64_t cell = at + c * strides[i];
      const std::int64_t volume = points * (cut[k + 1] - cut[k]);
      if (d + 1 == dimensions) {
        use(cell, volume);
      } else {
        visit(range, d + 1, cell, volume, use);
      }
    }
  }
};

// Whether they have a point in common.
bool meet(const Rect& a, const Rect& b);
// Whether the first lies within the second. An empty one does.
bool within(const Rect& inner, const Rect& outer);
// The smallest box that holds both, neither of them empty.
Piece around(const Piece& a, const Piece& b);

class Spaces {
 public:
  // Nothing, and why in `why`, where a formula has no value or there are more pieces or cells than
  // can be kept.
  static std::optional<Spaces> make(const app::Data& data, std::string& why);

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
  bool interfere(const app::Data& data, const app::Launch& one, std::size_t a,
                 const app::Launch& other, std::size_t b) const;
  // Pairs of requirements of that launch, the first before the second, that are in each other's way
  // wherever their pieces meet.
  using Pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
  const Pairs& clashes(std::uint32_t launch) const { return clashes_[launch]; }
  std::uint64_t groups_of_top_level(std::size_t r) const { return groups_.back()[r]; }
  std::int64_t bytes() const;  // of memory

 private:
  bool make_pieces(const app::Data& data, std::string& why);
  bool make_cells(const app::Data& data, std::string& why);
  bool make_groups(const app::Data& data, std::string& why);
  void find_clashes(const app::Data& data, const app::Launch& launch);

  std::vector<RegionSpace> regions_;
  std::vector<std::vector<Piece>> pieces_;          // by partition
  std::vector<std::vector<std::uint64_t>> groups_;  // by launch, by requirement
  std::vector<Pairs> clashes_;                      // by launch
};

// The place of a colour; nothing when it is none of the partition's.
std::optional<std::int64_t> color_index(const app::Partition& partition, const Point& color);

}  // namespace groma::sim
