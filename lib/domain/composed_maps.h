// Maps that are made from other maps: affine images, subsets, unions, and maps by an expression.
#pragma once

#include <functional>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "domain/expression.h"
#include "domain/point_map.h"

namespace groma::domains {

// Limit on the points from which a subset is chosen; a bit is stored for each.
inline constexpr std::int64_t kMaxChosenFrom = std::int64_t{1} << 28;
// Limit on the points that are looked at to find out whether two parts share points.
inline constexpr std::int64_t kMaxCompared = std::int64_t{1} << 24;
// Limit on the points of a domain with a map by an expression.
inline constexpr std::int64_t kMaxExplicit = std::int64_t{1} << 22;

// Returns the image of a map under x -> factors * x + offsets, with a row of factors for each new
// coordinate. Returns null if two points could have the same image or a number does not fit.
PointMapPtr make_affine_image(PointMapPtr inner, const std::vector<Coordinates>& factors,
                              const Coordinates& offsets);

// Returns the points of a map for which `keep` returns 1, in their order. `keep` returns 0 for a
// point that is left out and -1 to give up; the result is then null. The map must have at most
// kMaxChosenFrom points.
PointMapPtr make_subset(PointMapPtr inner,
                        const std::function<int(const Coordinates& point)>& keep);

// Returns the points of the maps, one map behind the other. The maps must not share points, and the
// number of all points must fit 63 bits. `words` tells how it is known that they share none;
// `is_exhaustive` that each point was looked at.
PointMapPtr make_union(std::vector<PointMapPtr> parts, std::string words, bool is_exhaustive);

// How it is known that two maps share no point, or a point that they share.
struct Overlap {
  bool is_known = false;
  std::optional<Coordinates> shared;
  // True if each point was looked at.
  bool is_exhaustive = false;
};
// Finds out whether two maps of as many dimensions share points. is_known is false if the maps have
// too many points to look at.
Overlap find_overlap(const PointMap& a, const PointMap& b);

// Why an expression is not a map of the points of a domain.
struct MapFault {
  // The expression has no value for `k`.
  Fault fault;
  std::int64_t k = 0;
  // If `fault` is kNone: the point for `k` is not in the domain, or it is also the point for
  // `earlier`.
  Coordinates point{};
  std::int64_t earlier = -1;
};
// Returns the map that `value`, an expression of the parameters and k, gives to the points of
// `inner`, after looking at each point. The map must have at most kMaxExplicit points.
std::variant<PointMapPtr, MapFault> make_explicit_map(PointMapPtr inner, Expression value,
                                                      std::vector<std::int64_t> parameters);

}  // namespace groma::domains
