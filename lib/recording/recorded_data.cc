// Describes recorded regions and partitions. A partition is described in the first of these ways
// that reproduces each recorded piece: equal blocks, blocks with ghosts, formulas of the colour, a
// list of boxes.
#include "recording/recorded_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "app/pieces.h"
#include "groma/workload.h"
#include "recording/fit_formula.h"

namespace groma::app {
namespace {

// Returns the bounds of a piece, relative to the lower corner of the region. An empty piece gives
// an empty box. If a piece of one dimension has unknown holes, its box is shortened to as many
// points as the piece has.
Rect box_of(const Events::Piece& piece, const Rect& region) {
  Rect box = piece.bounds;
  if (piece.points <= 0) {
    box.extents = Point::zeros(box.dimensions());
  } else if (piece.points < box.volume() && box.dimensions() == 1 && piece.boxes.empty()) {
    box.extents[0] = piece.points;
  }
  for (int d = 0; d < box.dimensions(); ++d) box.lower[d] -= region.lower[d];
  return box;
}

bool has_holes(const Events::Piece& piece) {
  return piece.points > 0 && piece.points < piece.bounds.volume();
}

// Returns true if both unions consist of the same points and neither has two boxes that overlap.
// Counts comparisons in `steps`, and returns false once the steps are used up.
bool same(const BoxUnion& a, const BoxUnion& b, StepBudget& steps) {
  const auto points = [](const std::vector<Rect>& boxes) {
    std::int64_t sum = 0;
    for (const Rect& box : boxes) sum += box.volume();
    return sum;
  };
  if (points(a.boxes()) != points(b.boxes())) return false;
  for (const Rect& box : a.boxes()) {
    std::vector<Rect> parts;
    b.add_intersections(box, parts, steps);
    if (points(parts) != box.volume()) return false;
  }
  return true;
}

// A piece as the formulas of its partition describe it: relative to the region or piece that is
// cut.
struct FormulaPiece {
  std::vector<std::int64_t> color;
  Rect box;
  // The extents of the region or piece that is cut.
  Point within;
};

// The formulas of one dimension: where a piece begins and how long it is.
struct DimensionFormulas {
  Formula lower, extents;
};

// Fits the formulas of one dimension to the pieces: the formula of the lower end and that of the
// extent. Returns nullopt if none is right for all pieces. `empty`: the extent of an empty piece is
// 0 in this dimension. Otherwise clipping has to make the piece empty.
std::optional<DimensionFormulas> fit_dimension(const std::vector<FormulaPiece>& cuts, int d,
                                               bool empty, const std::vector<std::string>& names) {
  Samples lower{names, {}, {}}, inner = lower, ends = lower;
  std::vector<std::int64_t> sizes;
  std::vector<Formula> guesses;
  for (const FormulaPiece& cut : cuts) {
    if (cut.box.volume() == 0) continue;
    lower.add(cut.color, cut.box.lower[d]);
    ends.add(cut.color, cut.box.lower[d] + cut.box.extents[d]);
    sizes.push_back(cut.within[d]);
    if (cut.box.lower[d] > 0) inner.add(cut.color, cut.box.lower[d]);
  }
  if (sizes.empty()) return DimensionFormulas{0, 0};
  // If all pieces cut data of the same size, the pieces may be blocks, so `i * size / parts` is a
  // guess for each coordinate.
  if (std::adjacent_find(sizes.begin(), sizes.end(), std::not_equal_to<>()) == sizes.end()) {
    for (std::size_t v = 0; v < names.size(); ++v) {
      std::int64_t parts = 0;
      for (const FormulaPiece& cut : cuts) parts = std::max(parts, cut.color[v] + 1);
      guesses.emplace_back(fmt::format("{} * {} / {}", names[v], sizes.front(), parts));
    }
  }
  // A piece that begins at 0 may have been clipped there, and its formula cannot be seen. So a
  // function that fits the other pieces is tried first.
  std::vector<Formula> begins;
  if (!inner.values.empty()) begins.push_back(linear_guess(inner));
  if (auto formula = fit_formula(lower, {}, guesses)) begins.push_back(*std::move(formula));
  for (const Formula& begin : begins) {
    const auto from = values_of(begin, lower);
    if (!from) continue;
    Samples extents{names, lower.points, {}};
    for (std::size_t s = 0; s < ends.count(); ++s) {
      std::int64_t extent = 0;
      if (__builtin_sub_overflow(ends.values[s], (*from)[s], &extent)) break;
      extents.values.push_back(extent);
    }
    if (extents.count() < ends.count()) continue;
    Samples all = extents;
    for (const FormulaPiece& cut : cuts) {
      if (empty && cut.box.volume() == 0) all.add(cut.color, 0);
    }
    std::vector<Formula> tried;
    if (!empty) tried.emplace_back(*std::max_element(all.values.begin(), all.values.end()));
    if (auto formula = fit_formula(all)) tried.push_back(*std::move(formula));
    for (const Formula& size : tried) {
      // The application clips the pieces, so the clipped values must equal the recorded ones.
      const auto to = values_of(size, extents);
      bool fine = to.has_value();
      for (std::size_t s = 0; s < ends.count() && fine; ++s) {
        std::int64_t end = 0;
        fine = !__builtin_add_overflow((*from)[s], (*to)[s], &end) &&
               std::max<std::int64_t>(0, (*from)[s]) == lower.values[s] &&
               std::min(sizes[s], end) == ends.values[s];
      }
      if (fine) return DimensionFormulas{begin, size};
    }
  }
  return std::nullopt;
}

// Returns the texts of the formulas, with commas between them.
std::string words_of(const std::vector<Formula>& formulas) {
  std::vector<std::string> words;
  for (const Formula& each : formulas) words.push_back(each.text());
  return fmt::format("{}", fmt::join(words, ", "));
}

}  // namespace

// Returns the boxes of a piece, relative to the lower corner of the region. A piece without
// recorded boxes is one box; an empty piece has none.
std::vector<Rect> boxes_of(const Events::Piece& piece, const Rect& region) {
  if (piece.boxes.empty()) {
    const Rect box = box_of(piece, region);
    return box.volume() == 0 ? std::vector<Rect>() : std::vector<Rect>{box};
  }
  std::vector<Rect> boxes = piece.boxes;
  for (Rect& box : boxes) {
    for (int d = 0; d < box.dimensions(); ++d) box.lower[d] -= region.lower[d];
  }
  return boxes;
}

// Returns names for the coordinates of a colour or a point: i, j, k, or i0, i1 and so on if there
// are more than three.
std::vector<std::string> coordinate_names(std::size_t dimensions) {
  if (dimensions <= 3) {
    const std::vector<std::string> names = {"i", "j", "k"};
    return {names.begin(), names.begin() + static_cast<std::ptrdiff_t>(dimensions)};
  }
  std::vector<std::string> names;
  for (std::size_t d = 0; d < dimensions; ++d) names.push_back(fmt::format("i{}", d));
  return names;
}

std::int64_t constant_of(const Formula& formula) { return std::stoll(formula.text()); }

// Returns the fields of the requirement in the order of the region, whatever the order of the
// program.
std::vector<AppField> fields_of(const AppRegion& region, const Events::Requirement& requirement) {
  std::vector<std::uint32_t> numbers = requirement.fields;
  std::sort(numbers.begin(), numbers.end());
  std::vector<AppField> fields;
  for (const std::uint32_t number : numbers) fields.push_back(region.fields[number]);
  return fields;
}

// Returns the extents of the partition's colours, those of the outer partitions first. The loop
// walks outwards and inserts the extents of each partition before those of the partitions within
// it.
std::vector<std::int64_t> color_extents(const Application& app, const AppPartition& partition) {
  std::vector<std::int64_t> extents;
  const AppPartition* at = &partition;
  while (at != nullptr) {
    for (std::size_t d = at->colors.size(); d-- > 0;) {
      extents.insert(extents.begin(), constant_of(at->colors[d]));
    }
    const auto outer = std::find_if(app.partitions.begin(), app.partitions.end(),
                                    [&](const AppPartition& each) { return each.name == at->of; });
    at = outer == app.partitions.end() ? nullptr : &*outer;
  }
  return extents;
}

// Adds all regions, then all partitions. A partition comes after the partition that it cuts.
RecordedData::RecordedData(const Events& events, Application& app, std::vector<std::string>& notes)
    : events_(events), app_(app), notes_(notes) {
  for (const Events::Region& region : events.regions) add_region(region);
  for (std::size_t i = 0; i < events.partitions.size(); ++i) add_partition(i);
}

// Returns the attached name if no other region or partition has it, otherwise a new name with a
// number at its end. `otherwise` is the base of the new name if the program attached no name.
std::string RecordedData::name_for(const std::string& attached, const std::string& otherwise,
                                   std::vector<std::string>& aliases, bool& unnamed) {
  std::string base = attached.substr(0, kMaxAppNameBytes / 2);
  if (base.empty()) base = otherwise;
  std::string name = base;
  for (int next = 2; !taken_.insert(name).second; ++next) name = fmt::format("{}_{}", base, next);
  unnamed = name != attached;
  if (unnamed && base == attached) aliases.push_back(base);
  return name;
}

// Adds a region. Makes up names for fields without a name, and changes repeated field names. A
// region with holes is described as a whole box, and a note says so.
void RecordedData::add_region(const Events::Region& from) {
  AppRegion region;
  region.name = name_for(from.name, fmt::format("region_{}", app_.regions.size() + 1),
                         region.aliases, region.unnamed);
  for (int d = 0; d < from.bounds.dimensions(); ++d) {
    region.extents.emplace_back(from.bounds.extents[d]);
  }
  if (from.points < from.bounds.volume()) {
    notes_.push_back(fmt::format("`{}` has holes: it is described with all {} points around its {}",
                                 region.name, from.bounds.volume(), from.points));
  }
  std::set<std::string> fields;
  for (const Events::Field& field : from.fields) {
    std::string name = field.name.substr(0, kMaxAppNameBytes / 2);
    if (name.empty()) name = fmt::format("field_{}", region.fields.size());
    while (!fields.insert(name).second) name += '_';
    region.fields.push_back({name, std::max<std::int64_t>(1, field.bytes)});
  }
  app_.regions.push_back(std::move(region));
}

// Returns the number of recorded pieces that `made` reproduces, or nullopt if `made` is not a valid
// partition. An application that has only this partition and its outer partitions computes the
// pieces.
std::optional<std::size_t> RecordedData::count_matching_pieces(const AppPartition& made,
                                                               std::size_t number) const {
  const Events::Partition& from = events_.partitions[number];
  Application alone;
  alone.name = "a";
  alone.regions = {app_.regions[from.region]};
  if (made.of != app_.regions[from.region].name) {
    for (std::int32_t outer = from.outer; outer >= 0;) {
      const auto at = static_cast<std::size_t>(outer);
      alone.partitions.insert(alone.partitions.begin(), app_.partitions[at]);
      // The chain of outer partitions ends at a partition that cuts the region itself.
      outer = app_.partitions[at].of == alone.regions[0].name ? -1 : events_.partitions[at].outer;
    }
  }
  alone.partitions.push_back(made);
  AppTask task;
  task.name = "t";
  task.variants.emplace_back();
  alone.tasks = {task};
  const auto workload = Workload::make(alone);
  if (!workload) return std::nullopt;
  const Data& data = workload->data();
  const Rect& region = events_.regions[from.region].bounds;
  StepBudget steps;
  return std::count_if(from.pieces.begin(), from.pieces.end(), [&](const Events::Piece& piece) {
    FormulaFault fault = FormulaFault::kNone;
    if (!data.partitions.back().colors.contains(piece.color) || steps.over()) {
      return false;
    }
    const BoxUnion found = boxes_of_piece(data, data.partitions.back(), piece.color, fault);
    return fault == FormulaFault::kNone &&
           same(found, BoxUnion(boxes_of(piece, region), region.dimensions()), steps);
  });
}

// Returns the box of all colours of the partition. The coordinates of the outer partition's colour
// come first.
Rect RecordedData::color_box(const AppPartition& partition) const {
  const std::vector<std::int64_t> extents = color_extents(app_, partition);
  return {Point::zeros(static_cast<int>(extents.size())), Point(extents)};
}

// Returns the partition with every recorded piece as a list of boxes. The boxes are relative to the
// piece that is cut. Returns nullopt if this piece was not recorded. `flat`: the partition cuts the
// region itself.
std::optional<AppPartition> RecordedData::with_listed_boxes(const AppPartition& plain,
                                                            std::size_t number, bool flat) const {
  const Events::Partition& from = events_.partitions[number];
  const Rect& region = events_.regions[from.region].bounds;
  const auto own = plain.colors.size();
  // The lower corner of each piece of the outer partition, by its colour.
  std::map<std::vector<std::int64_t>, Point> origins;
  if (!flat && from.outer >= 0) {
    for (const auto& piece : events_.partitions[static_cast<std::size_t>(from.outer)].pieces) {
      const auto color = piece.color.coordinates();
      origins.emplace(std::vector(color.begin(), color.end()),
                      BoxUnion(boxes_of(piece, region), region.dimensions()).bounding_box().lower);
    }
  }
  AppPartition made = plain;
  const Rect colors = color_box(plain);
  for (const Events::Piece& piece : from.pieces) {
    if (!colors.contains(piece.color)) continue;
    const auto color = piece.color.coordinates();
    Point origin = Point::zeros(region.dimensions());
    if (!flat && from.outer >= 0) {
      const auto of_outer = color.first(color.size() - own);
      const auto known = origins.find(std::vector(of_outer.begin(), of_outer.end()));
      if (known == origins.end()) return std::nullopt;
      origin = known->second;
    }
    for (const Rect& box : boxes_of(piece, region)) {
      AppBox& to = made.boxes.emplace_back();
      to.color.assign(color.begin(), color.end());
      for (int d = 0; d < region.dimensions(); ++d) {
        to.lower.emplace_back(box.lower[d] - origin[d]);
        to.extents.emplace_back(box.extents[d]);
      }
    }
  }
  return made;
}

// Returns the possible descriptions of a partition: equal blocks, equal blocks with a halo if
// pieces are larger than blocks, and formulas of the colour if they can be fitted. `flat`: the
// partition cuts the region itself, and its colour has the coordinates of all outer partitions.
std::vector<AppPartition> RecordedData::candidate_partitions(const AppPartition& plain,
                                                             std::size_t number, bool flat) const {
  std::vector<AppPartition> found = {plain};
  const Events::Partition& from = events_.partitions[number];
  const Rect& region = events_.regions[from.region].bounds;
  const int own = static_cast<int>(plain.colors.size());
  std::map<std::vector<std::int64_t>, Rect> outer;
  if (!flat && from.outer >= 0) {
    for (const auto& piece : events_.partitions[static_cast<std::size_t>(from.outer)].pieces) {
      const auto color = piece.color.coordinates();
      outer.emplace(std::vector(color.begin(), color.end()), box_of(piece, region));
    }
  }
  std::vector<FormulaPiece> cuts;
  std::vector<std::int64_t> halo(static_cast<std::size_t>(region.dimensions()), 0);
  const bool blocks = own == region.dimensions();
  for (const Events::Piece& piece : from.pieces) {
    const auto color = piece.color.coordinates();
    const auto of_outer = color.first(color.size() - static_cast<std::size_t>(own));
    FormulaPiece cut{{color.begin() + static_cast<std::ptrdiff_t>(of_outer.size()), color.end()},
                     box_of(piece, region),
                     region.extents};
    const auto around = outer.find(std::vector(of_outer.begin(), of_outer.end()));
    if (around != outer.end()) {
      cut.within = around->second.extents;
      for (int d = 0; d < region.dimensions(); ++d) cut.box.lower[d] -= around->second.lower[d];
    }
    // The halo is the largest distance by which a piece exceeds its block.
    for (int d = 0; d < region.dimensions() && blocks && cut.box.volume() > 0; ++d) {
      const auto c = cut.color[static_cast<std::size_t>(d)];
      const std::int64_t parts = std::stoll(plain.colors[static_cast<std::size_t>(d)].text());
      std::int64_t begin = 0, end = 0;
      if (c < 0 || c >= parts || __builtin_mul_overflow(c, cut.within[d], &begin) ||
          __builtin_add_overflow(begin, cut.within[d], &end)) {
        continue;
      }
      begin /= parts;
      end /= parts;
      std::int64_t& most = halo[static_cast<std::size_t>(d)];
      most =
          std::max({most, begin - cut.box.lower[d], cut.box.lower[d] + cut.box.extents[d] - end});
    }
    cuts.push_back(std::move(cut));
  }
  if (std::any_of(halo.begin(), halo.end(), [](std::int64_t points) { return points > 0; })) {
    found.push_back(plain);
    found.back().halo.assign(halo.begin(), halo.end());
  }
  for (const bool empty : {false, true}) {
    AppPartition by_formula = plain;
    by_formula.index = coordinate_names(plain.colors.size());
    for (int d = 0; d < region.dimensions(); ++d) {
      const auto ends = fit_dimension(cuts, d, empty && d == 0, by_formula.index);
      if (!ends) return found;
      by_formula.lower.push_back(ends->lower);
      by_formula.extents.push_back(ends->extents);
    }
    found.push_back(std::move(by_formula));
  }
  return found;
}

// Adds a partition in the first way that reproduces all recorded pieces, otherwise in the way that
// reproduces most of them. A note says how many pieces are wrong. Ways that cut the outer partition
// come before ways that cut the region itself (`flat`).
void RecordedData::add_partition(std::size_t number) {
  const Events::Partition& from = events_.partitions[number];
  const std::string& region = app_.regions[from.region].name;
  AppPartition plain;
  plain.name = name_for(from.name, fmt::format("{}_parts", region), plain.aliases, plain.unnamed);
  plain.of = from.outer < 0 ? region : app_.partitions[static_cast<std::size_t>(from.outer)].name;
  for (int d = 0; d < from.colors.dimensions(); ++d)
    plain.colors.emplace_back(from.colors.extents[d]);
  const auto unknown = std::count_if(
      from.pieces.begin(), from.pieces.end(),
      [](const Events::Piece& piece) { return has_holes(piece) && piece.boxes.empty(); });
  if (unknown > 0) {
    notes_.push_back(fmt::format(
        "{} of {} pieces of `{}` have more holes than are kept: they are described as boxes{}",
        unknown, from.pieces.size(), plain.name,
        events_.regions[from.region].bounds.dimensions() == 1 ? " of as many points" : ""));
  }
  const bool with_holes = std::any_of(from.pieces.begin(), from.pieces.end(),
                                      [](const auto& piece) { return !piece.boxes.empty(); });
  std::optional<AppPartition> best;
  // The number of recorded pieces that the partition `best` reproduces.
  std::size_t most = 0;
  const auto try_way = [&](AppPartition way) {
    const auto right = count_matching_pieces(way, number);
    if (!right || (best && *right <= most)) return;
    most = *right;
    best = std::move(way);
  };
  const auto is_exact = [&] { return best && most == from.pieces.size(); };
  for (const bool flat : {false, true}) {
    AppPartition begin = plain;
    if (flat) {
      if (from.outer < 0) break;
      begin.of = region;
      begin.colors.clear();
      for (std::int64_t at = static_cast<std::int64_t>(number); at >= 0;) {
        const Events::Partition& each = events_.partitions[static_cast<std::size_t>(at)];
        for (int d = each.colors.dimensions(); d-- > 0;) {
          begin.colors.insert(begin.colors.begin(), Formula(each.colors.extents[d]));
        }
        at = each.outer;
      }
    }
    if (with_holes || from.has_only_used_pieces) {
      // The pieces have holes, or only the used pieces were kept. Equal blocks of an outer
      // partition are tried first, because a piece may have its holes from the outer piece.
      // Otherwise each piece becomes a list of boxes, within the outer partition or, if `flat`,
      // within the region.
      if (!is_exact() && from.outer >= 0 && !flat && !from.has_only_used_pieces) try_way(begin);
      if (is_exact()) continue;
      if (auto way = with_listed_boxes(begin, number, flat)) {
        best = std::move(way);
        most = from.pieces.size();
      }
      continue;
    }
    for (AppPartition& way : candidate_partitions(begin, number, flat)) {
      if (!is_exact()) try_way(std::move(way));
    }
  }
  if (!is_exact()) {
    // The last resort: every piece is all of the data that is cut.
    AppPartition all = plain;
    all.index = coordinate_names(plain.colors.size());
    for (const Formula& extent : app_.regions[from.region].extents) {
      all.lower.emplace_back(0);
      all.extents.push_back(extent);
    }
    try_way(std::move(all));
    notes_.push_back(fmt::format(
        "the pieces of `{}` follow no rule that was found: {} of {} are as they are described, {}",
        plain.name, most, from.pieces.size(),
        !best || best->lower.empty()
            ? std::string("by equal blocks")
            : fmt::format("with ({}) points from ({}) on", words_of(best->extents),
                          words_of(best->lower))));
  }
  app_.partitions.push_back(best ? *std::move(best) : std::move(plain));
}

}  // namespace groma::app
