#include "simulate/spaces.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>

#include "base/point_text.h"
#include "base/saturating.h"
#include "mapper/demands.h"
#include "simulate/bytes.h"

namespace groma::sim {
namespace {

constexpr std::int64_t kMaxPieces = std::int64_t{1} << 22;
constexpr std::int64_t kMaxCells = std::int64_t{1} << 24;
constexpr std::size_t kMaxGroups = 64;

// Every launch of a body and those within it.
template <typename Use>
void for_launches(const app::Body& body, const Use& use) {
  for (const app::Statement& statement : body) {
    if (const auto* launch = std::get_if<app::Launch>(&statement.node)) use(*launch);
    if (const auto* loop = std::get_if<app::Loop>(&statement.node)) for_launches(loop->body, use);
    if (const auto* phase = std::get_if<app::Phase>(&statement.node)) {
      for_launches(phase->body, use);
    }
  }
}

void set_range(const RegionSpace& space, Piece& piece) {
  const bool empty = piece.box.volume() == 0;  // which made no cuts
  for (int d = 0; d < space.dimensions; ++d) {
    const auto i = static_cast<std::size_t>(d);
    const auto& cut = space.cuts[i];
    const auto place = [&](std::int64_t x) {
      return static_cast<std::int32_t>(std::lower_bound(cut.begin(), cut.end(), x) - cut.begin());
    };
    piece.cells.lower[i] = empty ? 0 : place(piece.box.lower[d]);
    piece.cells.upper[i] = empty ? 0 : place(piece.box.lower[d] + piece.box.extents[d]);
  }
}

// To a multiple of a power of two.
std::int64_t rounded_up(std::int64_t bytes, std::int64_t align) {
  const std::int64_t over = bytes & (align - 1);
  return over == 0 ? bytes : saturating_add(bytes, align - over);
}

}  // namespace

bool meet(const Piece& one, const Piece& other) {
  const Rect &a = one.box, &b = other.box;
  for (int d = 0; d < a.dimensions(); ++d) {
    if (a.lower[d] >= b.lower[d] + b.extents[d] || b.lower[d] >= a.lower[d] + a.extents[d]) {
      return false;
    }
    if (a.extents[d] == 0 || b.extents[d] == 0) return false;
  }
  return one.set == nullptr || app::meet(*one.set, *other.set);
}

bool within(const Piece& inside, const Piece& outside) {
  const Rect &inner = inside.box, &outer = outside.box;
  if (inner.volume() == 0) return true;
  for (int d = 0; d < inner.dimensions(); ++d) {
    if (inner.lower[d] < outer.lower[d]) return false;
    if (inner.lower[d] + inner.extents[d] > outer.lower[d] + outer.extents[d]) return false;
  }
  return inside.set == nullptr || app::covers(*outside.set, *inside.set);
}

bool same(const Piece& a, const Piece& b) {
  if (&a == &b) return true;
  return a.box.lower == b.box.lower && a.box.extents == b.box.extents &&
         (a.set == nullptr || a.set->cells == b.set->cells);
}

Piece around(const RegionSpace& space, const Piece& a, const Piece& b) {
  Piece all = a;
  for (int d = 0; d < a.box.dimensions(); ++d) {
    const auto i = static_cast<std::size_t>(d);
    const std::int64_t end =
        std::max(a.box.lower[d] + a.box.extents[d], b.box.lower[d] + b.box.extents[d]);
    all.box.lower[d] = std::min(a.box.lower[d], b.box.lower[d]);
    all.box.extents[d] = end - all.box.lower[d];
    all.cells.lower[i] = std::min(a.cells.lower[i], b.cells.lower[i]);
    all.cells.upper[i] = std::max(a.cells.upper[i], b.cells.upper[i]);
  }
  if (a.set != nullptr) {
    all.set = std::make_shared<const app::CellSet>(app::united(space.cell_points, *a.set, *b.set));
  }
  return all;
}

std::optional<std::int64_t> color_index(const app::Partition& partition, const Point& color) {
  if (!partition.colors.contains(color)) return std::nullopt;
  std::int64_t index = 0;
  for (int d = 0; d < color.dimensions(); ++d) {
    index = index * partition.colors.extents[d] + color[d] - partition.colors.lower[d];
  }
  return index;
}

std::int64_t RegionSpace::bytes_of(std::uint64_t groups) const {
  std::int64_t bytes = 0;
  for (std::size_t g = 0; g < group_bytes.size(); ++g) {
    if ((groups >> g & 1) != 0) bytes += group_bytes[g];
  }
  return bytes;
}

std::int64_t RegionSpace::point_bytes(std::uint64_t groups, const LayoutSpec& layout) const {
  const auto [end, align] = lay(groups, 1, layout);
  return rounded_up(end, align);
}

std::int64_t RegionSpace::instance_bytes(std::uint64_t groups, const LayoutSpec& layout,
                                         std::int64_t points) const {
  if (layout.fields == FieldOrder::kSoa) return lay(groups, points, layout).first;
  return saturating_multiply(point_bytes(groups, layout), points);
}

// What the layout asks for takes the place of what Legion aligns a field to by itself: the largest
// power of two that its bytes are a multiple of.
std::pair<std::int64_t, std::int64_t> RegionSpace::lay(std::uint64_t groups, std::int64_t elements,
                                                       const LayoutSpec& layout) const {
  const std::int64_t asked = mapper::least_alignment(layout.align_op, layout.align_bytes);
  if (asked == INT64_MAX) return {INT64_MAX, 1};
  std::int64_t end = 0, largest = 1;
  for (const Fields& fields : by_size) {
    if ((groups >> fields.group & 1) == 0) continue;
    const std::int64_t align = asked > 1 ? asked : fields.bytes & -fields.bytes;
    const std::int64_t array = fields.bytes * elements;
    end = saturating_add(rounded_up(end, align), array);
    const std::int64_t others = saturating_multiply(rounded_up(array, align), fields.count - 1);
    end = saturating_add(end, others);
    largest = std::max(largest, align);
  }
  return {end, largest};
}

std::vector<std::uint32_t> RegionSpace::fields_of(std::uint64_t groups) const {
  std::vector<std::uint32_t> fields;
  for (std::size_t g = 0; g < group_fields.size(); ++g) {
    if ((groups >> g & 1) == 0) continue;
    fields.insert(fields.end(), group_fields[g].begin(), group_fields[g].end());
  }
  std::sort(fields.begin(), fields.end());
  return fields;
}

LayoutSpec RegionSpace::layout(LayoutSpec wanted, std::uint64_t groups) const {
  const auto first = static_cast<std::size_t>(std::countr_zero(groups));
  const bool one_field = std::has_single_bit(groups) && group_fields[first].size() == 1;
  if (one_field) wanted.fields = FieldOrder::kSoa;
  return wanted;
}

std::uint64_t RegionSpace::group_of(std::uint32_t field) const {
  for (std::size_t g = 0; g < group_fields.size(); ++g) {
    const auto& fields = group_fields[g];
    if (std::find(fields.begin(), fields.end(), field) != fields.end())
      return std::uint64_t{1} << g;
  }
  return 0;
}

std::optional<Spaces> Spaces::make(const app::Data& data, std::string& why) {
  Spaces spaces;
  spaces.regions_.resize(data.regions.size());
  spaces.pieces_.resize(data.partitions.size());
  const bool made = spaces.make_pieces(data, why) && spaces.make_cells(data, why) &&
                    spaces.make_groups(data, why);
  if (!made) return std::nullopt;
  return spaces;
}

std::int64_t Spaces::bytes() const {
  std::int64_t bytes = 0;
  for (const auto& pieces : pieces_) bytes += heap_bytes(pieces);
  for (const RegionSpace& region : regions_) {
    for (const auto& cut : region.cuts) bytes += heap_bytes(cut);
  }
  return bytes;
}

bool Spaces::make_pieces(const app::Data& data, std::string& why) {
  std::int64_t count = 0;
  for (std::size_t p = 0; p < data.partitions.size(); ++p) {
    const app::Partition& partition = data.partitions[p];
    const std::int64_t colors = partition.colors.volume();
    if (colors > kMaxPieces - count) {
      why = fmt::format("there are more than {} pieces with those of `{}`", kMaxPieces,
                        partition.name);
      return false;
    }
    count += colors;
    if (colors == 0) continue;
    pieces_[p].reserve(static_cast<std::size_t>(colors));
    for (const app::Piece& each : partition.pieces) {
      pieces_[p].push_back({each.box, {}, each.cells});
    }
    if (!partition.pieces.empty()) continue;
    Point color = partition.colors.lower;
    do {
      app::FormulaFault fault = app::FormulaFault::kNone;
      Piece piece;
      piece.box = app::piece(data, partition, color, fault);
      if (fault != app::FormulaFault::kNone) {
        why = fmt::format("piece {} of `{}`: {}", text_of(color), partition.name,
                          app::words_of(fault));
        return false;
      }
      pieces_[p].push_back(piece);
    } while (next_point(partition.colors, &color));
  }
  return true;
}

bool Spaces::make_cells(const app::Data& data, std::string& why) {
  for (std::size_t r = 0; r < data.regions.size(); ++r) {
    RegionSpace& space = regions_[r];
    space.dimensions = data.regions[r].box.dimensions();
    space.whole.box = data.regions[r].box;
    space.whole.set = data.regions[r].all_cells;
    space.cell_points = data.regions[r].cell_points;
    space.cuts.resize(static_cast<std::size_t>(space.dimensions));
  }
  const auto add = [&](RegionSpace& space, const Rect& box) {
    if (box.volume() == 0) return;
    for (int d = 0; d < space.dimensions; ++d) {
      auto& cut = space.cuts[static_cast<std::size_t>(d)];
      cut.push_back(box.lower[d]);
      cut.push_back(box.lower[d] + box.extents[d]);
    }
  };
  for (RegionSpace& space : regions_) add(space, space.whole.box);
  for (std::size_t p = 0; p < pieces_.size(); ++p) {
    for (const Piece& piece : pieces_[p]) add(regions_[data.partitions[p].region], piece.box);
  }
  std::int64_t cells = 0;
  for (std::size_t r = 0; r < regions_.size(); ++r) {
    RegionSpace& space = regions_[r];
    space.strides.assign(space.cuts.size(), 1);
    for (std::size_t d = space.cuts.size(); d-- > 0;) {
      auto& cut = space.cuts[d];
      std::sort(cut.begin(), cut.end());
      cut.erase(std::unique(cut.begin(), cut.end()), cut.end());
      if (cut.empty()) cut.push_back(0);
      if (space.whole.set != nullptr) continue;
      space.strides[d] = space.cells;
      const auto here = static_cast<std::int64_t>(cut.size()) - 1;
      if (__builtin_mul_overflow(space.cells, here, &space.cells) || space.cells > kMaxCells) {
        why = fmt::format("the partitions of `{}` cut it into more than {} parts",
                          data.regions[r].name, kMaxCells);
        return false;
      }
    }
    if (space.whole.set != nullptr) {
      space.cells = std::ssize(space.cell_points);
    } else {
      set_range(space, space.whole);
    }
    cells += space.cells;
  }
  if (cells > kMaxCells) {
    why = fmt::format("the partitions cut the regions into more than {} parts", kMaxCells);
    return false;
  }
  for (std::size_t p = 0; p < pieces_.size(); ++p) {
    const RegionSpace& space = regions_[data.partitions[p].region];
    if (space.whole.set != nullptr) continue;
    for (Piece& piece : pieces_[p]) set_range(space, piece);
  }
  return true;
}

// Fields that are in the same requirements, of all launches, are one group.
bool Spaces::make_groups(const app::Data& data, std::string& why) {
  groups_.resize(data.launches + 1);
  std::vector<const app::Launch*> launches(data.launches);
  for (const app::Task& task : data.tasks) {
    for_launches(task.body, [&](const app::Launch& launch) { launches[launch.number] = &launch; });
  }
  std::vector<std::vector<std::vector<std::uint32_t>>> sets(regions_.size());  // distinct, sorted
  const auto each = [&](const auto& use) {
    for (std::size_t i = 0; i < launches.size(); ++i) {
      if (launches[i] == nullptr) continue;
      for (const app::Where& where : launches[i]->data) use(i, where);
    }
    if (data.top_level < 0) return;
    const auto& top = data.tasks[static_cast<std::size_t>(data.top_level)];
    for (const app::Requirement& requirement : top.requirements) {
      use(launches.size(), requirement.data);
    }
  };
  each([&](std::size_t, const app::Where& where) {
    if (where.what == app::Where::What::kUnknown) return;
    std::vector<std::uint32_t> fields = where.fields;
    std::sort(fields.begin(), fields.end());
    auto& known = sets[where.region];
    if (std::find(known.begin(), known.end(), fields) == known.end()) {
      known.push_back(std::move(fields));
    }
  });
  for (std::size_t r = 0; r < regions_.size(); ++r) {
    std::map<std::vector<bool>, std::size_t> known;                       // by membership
    std::map<std::pair<std::int64_t, std::size_t>, std::int64_t> counts;  // by falling size, group
    RegionSpace& space = regions_[r];
    for (std::uint32_t f = 0; f < data.regions[r].fields.size(); ++f) {
      std::vector<bool> in;
      for (const auto& set : sets[r]) in.push_back(std::binary_search(set.begin(), set.end(), f));
      const auto [group, is_new] = known.emplace(in, space.group_bytes.size());
      if (is_new) {
        space.group_bytes.push_back(0);
        space.group_fields.emplace_back();
      }
      const std::int64_t bytes = data.regions[r].fields[f].bytes;
      ++counts[{-bytes, group->second}];
      space.group_bytes[group->second] += bytes;
      space.group_fields[group->second].push_back(f);
    }
    if (space.group_bytes.size() > kMaxGroups) {
      why = fmt::format("the tasks use the fields of `{}` in more than {} different ways",
                        data.regions[r].name, kMaxGroups);
      return false;
    }
    for (const auto& [alike, count] : counts) {
      space.by_size.push_back({-alike.first, alike.second, count});
    }
    for (std::size_t g = 0; g < space.group_bytes.size(); ++g) {
      space.all_groups |= std::uint64_t{1} << g;
    }
  }
  each([&](std::size_t launch, const app::Where& where) {
    std::uint64_t mask = 0;
    if (where.what != app::Where::What::kUnknown) {
      const auto& groups = regions_[where.region].group_fields;
      for (std::size_t g = 0; g < groups.size(); ++g) {
        const bool in = std::find(where.fields.begin(), where.fields.end(), groups[g].front()) !=
                        where.fields.end();
        if (in) mask |= std::uint64_t{1} << g;
      }
    }
    groups_[launch].push_back(mask);
  });
  clashes_.resize(data.launches);
  for (const app::Launch* launch : launches) {
    if (launch != nullptr) find_clashes(data, *launch);
  }
  return true;
}

bool Spaces::interfere(const app::Data& data, const app::Launch& one, std::size_t a,
                       const app::Launch& other, std::size_t b) const {
  const app::Where& first = one.data[a];
  const app::Where& second = other.data[b];
  if (first.region != second.region) return false;
  if (first.what == app::Where::What::kUnknown || second.what == app::Where::What::kUnknown) {
    return false;
  }
  return app::interfere(data.tasks[one.task].requirements[a].privilege,
                        data.tasks[other.task].requirements[b].privilege) &&
         (groups(one.number, a) & groups(other.number, b)) != 0;
}

void Spaces::find_clashes(const app::Data& data, const app::Launch& launch) {
  const std::vector<app::Requirement>& requirements = data.tasks[launch.task].requirements;
  for (std::uint32_t a = 0; a < requirements.size(); ++a) {
    for (std::uint32_t b = a + 1; b < requirements.size(); ++b) {
      const bool shared = requirements[a].coherence != Coherence::kExclusive &&
                          requirements[b].coherence != Coherence::kExclusive;
      if (!shared && interfere(data, launch, a, launch, b)) {
        clashes_[launch.number].emplace_back(a, b);
      }
    }
  }
}

}  // namespace groma::sim
