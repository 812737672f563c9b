// Implements DataSpaces: cuts the regions of an application into cells, and puts their fields into
// groups.
#include "simulate/spaces.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <set>

#include "app/pieces.h"
#include "base/boxes.h"
#include "base/point_text.h"
#include "base/quantities.h"
#include "base/saturating.h"
#include "mapper/demands.h"
#include "simulate/bytes.h"

namespace groma::sim {
namespace {

// The largest numbers that an application may have of: pieces in all its partitions together, cells
// in all its regions together, and field groups in one region. A set of field groups is a mask of
// 64 bits.
constexpr std::int64_t kMaxPieces = std::int64_t{1} << 22;
constexpr std::int64_t kMaxCells = std::int64_t{1} << 24;
constexpr std::size_t kMaxGroups = 64;

// Calls use(launch) for every launch of a body, including those within its loops and phases.
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

// Sets `piece.cells` to the range of cells that the box of the piece covers. An empty box gets an
// empty range.
void set_range(const RegionSpace& space, Piece& piece) {
  // The corners of an empty box need not be among the coordinates at which the region is cut, so
  // they are not looked up.
  const bool empty = piece.box.volume() == 0;
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

// Returns `bytes` rounded up to a multiple of `align`, which is a power of two. The result
// saturates at INT64_MAX.
std::int64_t rounded_up(std::int64_t bytes, std::int64_t align) {
  const std::int64_t over = bytes & (align - 1);
  return over == 0 ? bytes : saturating_add(bytes, align - over);
}

}  // namespace

// Boxes are compared first. Cell sets are compared only for regions whose pieces have holes.
bool overlap(const Piece& one, const Piece& other) {
  const Rect &a = one.box, &b = other.box;
  for (int d = 0; d < a.dimensions(); ++d) {
    if (a.lower[d] >= b.lower[d] + b.extents[d] || b.lower[d] >= a.lower[d] + a.extents[d]) {
      return false;
    }
    if (a.extents[d] == 0 || b.extents[d] == 0) return false;
  }
  return one.set == nullptr || app::have_common_point(*one.set, *other.set);
}

// Boxes are compared first. Cell sets are compared only for regions whose pieces have holes.
bool is_covered_by(const Piece& inside, const Piece& outside) {
  const Rect &inner = inside.box, &outer = outside.box;
  if (inner.volume() == 0) return true;
  for (int d = 0; d < inner.dimensions(); ++d) {
    if (inner.lower[d] < outer.lower[d]) return false;
    if (inner.lower[d] + inner.extents[d] > outer.lower[d] + outer.extents[d]) return false;
  }
  return inside.set == nullptr || app::covers(*outside.set, *inside.set);
}

bool have_same_points(const Piece& a, const Piece& b) {
  if (&a == &b) return true;
  return a.box.lower == b.box.lower && a.box.extents == b.box.extents &&
         (a.set == nullptr || a.set->cells == b.set->cells);
}

// The box of the result is the smallest that holds both boxes. The cell set, if the region has one,
// is the union of both sets.
Piece piece_covering_both(const RegionSpace& space, const Piece& a, const Piece& b) {
  Piece all = a;
  all.box = box_around(a.box, b.box);
  for (int d = 0; d < a.box.dimensions(); ++d) {
    const auto i = static_cast<std::size_t>(d);
    all.cells.lower[i] = std::min(a.cells.lower[i], b.cells.lower[i]);
    all.cells.upper[i] = std::max(a.cells.upper[i], b.cells.upper[i]);
  }
  if (a.set != nullptr) {
    all.set =
        std::make_shared<const app::CellSet>(app::union_of(space.cell_points, *a.set, *b.set));
  }
  return all;
}

std::optional<std::int64_t> color_index(const app::Partition& partition, const Point& color) {
  if (!partition.colors.contains(color)) return std::nullopt;
  return row_major_position(partition.colors, color);
}

// Returns the bytes of one point: the sum over the field groups in the mask.
std::int64_t RegionSpace::bytes_of(std::uint64_t groups) const {
  std::int64_t bytes = 0;
  for (std::size_t g = 0; g < group_bytes.size(); ++g) {
    if ((groups >> g & 1) != 0) bytes += group_bytes[g];
  }
  return bytes;
}

std::int64_t RegionSpace::point_bytes(std::uint64_t groups, const LayoutSpec& layout) const {
  const auto [end, align] = lay_out_fields(groups, 1, layout);
  return rounded_up(end, align);
}

std::int64_t RegionSpace::instance_bytes(std::uint64_t groups, const LayoutSpec& layout,
                                         std::int64_t points) const {
  if (layout.fields == FieldOrder::kSoa) return lay_out_fields(groups, points, layout).first;
  return saturating_multiply(point_bytes(groups, layout), points);
}

// Computes the layout of arrays of `elements` elements, one for each field of the groups, the
// largest field first. Returns the end of the last array in bytes, and the largest alignment of an
// array.
//
// Legion aligns a field to the largest power of two that divides its size. If the layout demands an
// alignment, that alignment is used instead.
std::pair<std::int64_t, std::int64_t> RegionSpace::lay_out_fields(std::uint64_t groups,
                                                                  std::int64_t elements,
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

// Returns the fields of all groups in the mask, in ascending order.
std::vector<std::uint32_t> RegionSpace::fields_of(std::uint64_t groups) const {
  std::vector<std::uint32_t> fields;
  for (std::size_t g = 0; g < group_fields.size(); ++g) {
    if ((groups >> g & 1) == 0) continue;
    fields.insert(fields.end(), group_fields[g].begin(), group_fields[g].end());
  }
  std::sort(fields.begin(), fields.end());
  return fields;
}

// Returns the layout that an instance of these field groups gets if `wanted` is asked for. With a
// single field, the orders SOA and AOS are the same, so the result has SOA.
LayoutSpec RegionSpace::layout(LayoutSpec wanted, std::uint64_t groups) const {
  const auto first = static_cast<std::size_t>(std::countr_zero(groups));
  const bool one_field = std::has_single_bit(groups) && group_fields[first].size() == 1;
  if (one_field) wanted.fields = FieldOrder::kSoa;
  return wanted;
}

// Returns the mask of the group that holds `field`, or 0 if the region has no such field.
std::uint64_t RegionSpace::group_of(std::uint32_t field) const {
  for (std::size_t g = 0; g < group_fields.size(); ++g) {
    const auto& fields = group_fields[g];
    if (std::find(fields.begin(), fields.end(), field) != fields.end())
      return std::uint64_t{1} << g;
  }
  return 0;
}

std::string too_little_memory(std::int64_t max_bytes) {
  return fmt::format("more than {} of memory is needed to simulate it", format_bytes(max_bytes));
}

// Builds the pieces, then the cells, then the field groups. Stops at the first step that fails.
std::optional<DataSpaces> DataSpaces::make(const app::Data& data, std::int64_t max_bytes,
                                           Budget& budget, SpacesFailure& failure) {
  DataSpaces spaces;
  spaces.regions_.resize(data.regions.size());
  spaces.pieces_.resize(data.partitions.size());
  const MakeArguments making{data, max_bytes, budget, failure};
  const bool made =
      spaces.make_pieces(making) && spaces.make_cells(making) && spaces.make_groups(making);
  if (!made) return std::nullopt;
  return spaces;
}

// Counts `bytes` of memory before they are allocated. Returns false, with the failure noted, if the
// memory then exceeds `making.max_bytes`.
bool DataSpaces::add_to_counted_memory(const MakeArguments& making, std::int64_t bytes) {
  bytes_ = saturating_add(bytes_, bytes);
  if (bytes_ <= making.max_bytes) return true;
  making.failure.status = RunStatus::kTooLarge;
  return making.fail(too_little_memory(making.max_bytes));
}

// Computes the box of every piece of every partition, from listed pieces or from the formula of the
// partition. Returns false if there are more than kMaxPieces, if a formula has no value, or if a
// limit is exceeded.
bool DataSpaces::make_pieces(const MakeArguments& making) {
  std::int64_t count = 0;
  for (std::size_t p = 0; p < making.data.partitions.size(); ++p) {
    const app::Partition& partition = making.data.partitions[p];
    const std::int64_t colors = partition.colors.volume();
    if (colors > kMaxPieces - count) {
      return making.fail(fmt::format("there are more than {} pieces with those of `{}`", kMaxPieces,
                                     partition.name));
    }
    count += colors;
    if (colors == 0) continue;
    if (!add_to_counted_memory(making, colors * static_cast<std::int64_t>(sizeof(Piece))))
      return false;
    pieces_[p].reserve(static_cast<std::size_t>(colors));
    for (const app::Piece& each : partition.pieces) {
      if (!making.spend(1)) return false;
      pieces_[p].push_back({each.box, {}, each.cells});
    }
    if (!partition.pieces.empty()) continue;
    const std::int64_t work = app::approximate_cost_of_piece(making.data, partition);
    Point color = partition.colors.lower;
    do {
      if (!making.spend(work)) return false;
      app::FormulaFault fault = app::FormulaFault::kNone;
      Piece piece;
      piece.box = app::bounds_of_piece(making.data, partition, color, fault);
      if (fault != app::FormulaFault::kNone) {
        return making.fail(fmt::format("piece {} of `{}`: {}", text_of(color), partition.name,
                                       app::words_of(fault)));
      }
      pieces_[p].push_back(piece);
    } while (next_point(partition.colors, &color));
  }
  return true;
}

// Cuts every region into cells, then computes the range of cells of each piece. Returns false if
// the regions together have more than kMaxCells cells, or if a limit is exceeded.
bool DataSpaces::make_cells(const MakeArguments& making) {
  // For each region: the pieces that are not empty.
  std::vector<std::vector<const Piece*>> pieces(regions_.size());
  for (std::size_t p = 0; p < pieces_.size(); ++p) {
    std::vector<const Piece*>& here = pieces[making.data.partitions[p].region];
    for (const Piece& piece : pieces_[p]) {
      if (piece.box.volume() > 0) here.push_back(&piece);
    }
  }
  std::int64_t cells = 0;
  for (std::size_t r = 0; r < regions_.size(); ++r) {
    if (!cut(making, r, pieces[r])) return false;
    cells += regions_[r].cells;
  }
  if (cells > kMaxCells) {
    return making.fail(
        fmt::format("the partitions cut the regions into more than {} parts", kMaxCells));
  }
  for (std::size_t p = 0; p < pieces_.size(); ++p) {
    const RegionSpace& space = regions_[making.data.partitions[p].region];
    if (space.whole.set != nullptr) continue;
    for (Piece& piece : pieces_[p]) {
      if (!making.spend(std::int64_t{8} * space.dimensions)) return false;
      set_range(space, piece);
    }
  }
  return true;
}

// Cuts one region, in each dimension, at the begin and end of each piece and of the region itself.
// A region whose pieces have holes keeps the cells that the application computed for it. Returns
// false if there are more than kMaxCells cells, or if a limit is exceeded.
bool DataSpaces::cut(const MakeArguments& making, std::size_t region,
                     const std::vector<const Piece*>& pieces) {
  RegionSpace& space = regions_[region];
  space.whole.box = making.data.regions[region].box;
  space.whole.set = making.data.regions[region].all_cells;
  space.cell_points = making.data.regions[region].cell_points;
  space.dimensions = space.whole.box.dimensions();
  space.cuts.resize(static_cast<std::size_t>(space.dimensions));
  space.strides.assign(space.cuts.size(), 1);
  for (int d = space.dimensions - 1; d >= 0; --d) {
    auto& cut = space.cuts[static_cast<std::size_t>(d)];
    const std::size_t most = 2 * pieces.size() + 2;
    const std::int64_t bytes = heap_bytes(most * sizeof(std::int64_t));
    if (!add_to_counted_memory(making, bytes) || !making.spend(8 * static_cast<std::int64_t>(most)))
      return false;
    cut.reserve(most);
    const auto add = [&](const Rect& box) {
      cut.push_back(box.lower[d]);
      cut.push_back(box.lower[d] + box.extents[d]);
    };
    if (space.whole.box.volume() > 0) add(space.whole.box);
    for (const Piece* piece : pieces) add(piece->box);
    std::sort(cut.begin(), cut.end());
    cut.erase(std::unique(cut.begin(), cut.end()), cut.end());
    if (cut.empty()) cut.push_back(0);
    cut.shrink_to_fit();
    bytes_ += heap_bytes(cut) - bytes;
    if (space.whole.set != nullptr) continue;
    space.strides[static_cast<std::size_t>(d)] = space.cells;
    const auto here = static_cast<std::int64_t>(cut.size()) - 1;
    if (__builtin_mul_overflow(space.cells, here, &space.cells) || space.cells > kMaxCells) {
      return making.fail(fmt::format("the partitions of `{}` cut it into more than {} parts",
                                     making.data.regions[region].name, kMaxCells));
    }
  }
  if (space.whole.set != nullptr) {
    space.cells = std::ssize(space.cell_points);
  } else {
    set_range(space, space.whole);
  }
  return true;
}

// Puts the fields of each region into groups. Two fields are in one group if the same requirements
// use them; all launches and the top-level task are considered. Then computes the groups of each
// requirement and the pairs of requirements that clash.
//
// Returns false if a region needs more than kMaxGroups groups, or if a limit is exceeded.
bool DataSpaces::make_groups(const MakeArguments& making) {
  const app::Data& data = making.data;
  groups_.resize(data.launches + 1);
  std::vector<const app::Launch*> launches(data.launches);
  for (const app::Task& task : data.tasks) {
    for_launches(task.body, [&](const app::Launch& launch) { launches[launch.number] = &launch; });
  }
  // Calls use(launch, where) for every requirement of every launch, until a call returns false.
  // `launch` is the number of the launch. The requirements of the top-level task get a number one
  // above the last launch.
  const auto each = [&](const auto& use) {
    for (std::size_t i = 0; i < launches.size(); ++i) {
      if (launches[i] == nullptr) continue;
      for (const app::RequirementData& where : launches[i]->data) {
        if (!use(i, where)) return false;
      }
    }
    if (data.top_level < 0) return true;
    const auto& top = data.tasks[static_cast<std::size_t>(data.top_level)];
    return std::all_of(top.requirements.begin(), top.requirements.end(),
                       [&](const app::Requirement& r) { return use(launches.size(), r.data); });
  };
  // For each region: the sets of fields that requirements use, each different set once, in the
  // order in which the requirements use them. The fields of a set are sorted.
  std::vector<std::vector<std::vector<std::uint32_t>>> sets(regions_.size());
  std::vector<std::set<std::vector<std::uint32_t>>> known(regions_.size());
  bool good = each([&](std::size_t, const app::RequirementData& where) {
    if (where.kind == app::RequirementData::Kind::kUnknown) return true;
    std::vector<std::uint32_t> fields = where.fields;
    std::sort(fields.begin(), fields.end());
    if (known[where.region].insert(fields).second) sets[where.region].push_back(fields);
    return making.spend(16 + 4 * static_cast<std::int64_t>(fields.size()));
  });
  for (std::size_t r = 0; r < regions_.size() && good; ++r) {
    group_fields(data.regions[r], regions_[r], sets[r]);
    good = making.spend(8 * static_cast<std::int64_t>(data.regions[r].fields.size()));
    if (regions_[r].group_bytes.size() > kMaxGroups) {
      return making.fail(
          fmt::format("the tasks use the fields of `{}` in more than {} different ways",
                      data.regions[r].name, kMaxGroups));
    }
  }
  for (std::size_t i = 0; i < launches.size() && good; ++i) {
    if (launches[i] == nullptr) continue;
    groups_[i].reserve(launches[i]->data.size());
    good = add_to_counted_memory(making, heap_bytes(groups_[i]));
  }
  good = good && each([&](std::size_t launch, const app::RequirementData& where) {
           std::uint64_t mask = 0;
           if (where.kind != app::RequirementData::Kind::kUnknown) {
             const auto& groups = regions_[where.region].group_fields;
             for (std::size_t g = 0; g < groups.size(); ++g) {
               const bool in = std::find(where.fields.begin(), where.fields.end(),
                                         groups[g].front()) != where.fields.end();
               if (in) mask |= std::uint64_t{1} << g;
             }
           }
           groups_[launch].push_back(mask);
           return making.spend(1 + static_cast<std::int64_t>(where.fields.size()));
         });
  clashes_.resize(data.launches);
  for (const app::Launch* launch : launches) {
    if (good && launch != nullptr) good = find_conflicting_requirements(making, *launch);
  }
  return good;
}

// Puts the fields of one region into groups. Each element of `sets` holds the fields that some
// requirement uses. Stops when there are kMaxGroups + 1 groups, which tells the caller that there
// are too many.
void DataSpaces::group_fields(const app::Region& region, RegionSpace& space,
                              const std::vector<std::vector<std::uint32_t>>& sets) {
  // For each field f, in[f] holds the indices of those elements of `sets` that contain the field.
  std::vector<std::vector<std::uint32_t>> in(region.fields.size());
  for (std::uint32_t s = 0; s < sets.size(); ++s) {
    for (const std::uint32_t field : sets[s]) in[field].push_back(s);
  }
  std::map<std::vector<std::uint32_t>, std::size_t> known;
  // The number of fields for each pair of a size and a group. The size is stored as a negative
  // number, so that the largest size comes first.
  std::map<std::pair<std::int64_t, std::size_t>, std::int64_t> counts;
  for (std::uint32_t f = 0; f < in.size() && space.group_bytes.size() <= kMaxGroups; ++f) {
    const auto [group, is_new] = known.emplace(std::move(in[f]), space.group_bytes.size());
    if (is_new) {
      space.group_bytes.push_back(0);
      space.group_fields.emplace_back();
    }
    const std::int64_t bytes = region.fields[f].bytes;
    ++counts[{-bytes, group->second}];
    space.group_bytes[group->second] += bytes;
    space.group_fields[group->second].push_back(f);
  }
  for (const auto& [alike, count] : counts) {
    space.by_size.push_back({-alike.first, alike.second, count});
  }
  for (std::size_t g = 0; g < space.group_bytes.size() && g < kMaxGroups; ++g) {
    space.all_groups |= std::uint64_t{1} << g;
  }
}

// If the application does not say which data one of the requirements uses, the two requirements
// count as not interfering.
bool DataSpaces::interfere(const app::Launch& one, std::size_t a, const app::Launch& other,
                           std::size_t b) const {
  const app::RequirementData& first = one.data[a];
  const app::RequirementData& second = other.data[b];
  if (first.region != second.region) return false;
  if (first.kind == app::RequirementData::Kind::kUnknown ||
      second.kind == app::RequirementData::Kind::kUnknown) {
    return false;
  }
  return app::must_keep_order(first.privilege, second.privilege) &&
         (groups(one.number, a) & groups(other.number, b)) != 0;
}

// Notes the pairs of requirements of `launch` that conflict if their pieces overlap. Two
// requirements that both have a coherence other than exclusive do not conflict. Returns false if a
// limit is exceeded.
bool DataSpaces::find_conflicting_requirements(const MakeArguments& making,
                                               const app::Launch& launch) {
  const app::Data& data = making.data;
  const std::vector<app::Requirement>& requirements = data.tasks[launch.task].requirements;
  Pairs& pairs = clashes_[launch.number];
  for (std::uint32_t a = 0; a < requirements.size(); ++a) {
    for (std::uint32_t b = a + 1; b < requirements.size(); ++b) {
      const bool shared = requirements[a].coherence != Coherence::kExclusive &&
                          requirements[b].coherence != Coherence::kExclusive;
      if (!shared && interfere(launch, a, launch, b)) pairs.emplace_back(a, b);
    }
    if (!making.spend(static_cast<std::int64_t>(requirements.size()))) return false;
  }
  pairs.shrink_to_fit();
  return add_to_counted_memory(making, heap_bytes(pairs));
}

}  // namespace groma::sim
