// MapDescription: what a map is made of, for code that writes the map in another language.
#pragma once

#include <variant>
#include <vector>

#include "domain/point_map.h"
#include "domain/polynomial.h"

namespace groma::domains {

// Nested loops, the outermost first. Variable l of each polynomial is the counter of loop l.
struct LoopsDescription {
  // For each loop: the first value of its counter and the value behind the last one (linear in the
  // counters of outer loops, with integer coefficients), and the number of points before the
  // iteration with this counter.
  std::vector<Polynomial> first, end, before;
};

// A self-similar set: `levels` digits of base `base`; each digit vector is an entry of the table.
struct DigitsDescription {
  std::int64_t base = 2, levels = 0;
  std::vector<Coordinates> table;
};

// The image of a map under x -> factors * x + offsets.
struct ImageDescription {
  PointMapPtr inner;
  // A row for each coordinate.
  std::vector<Coordinates> factors;
  Coordinates offsets{};
  // The counters are inverse * (coordinates - offsets) / denominator, with a row for each counter.
  std::vector<std::array<Int128, kMaxDimensions>> inverse;
  Int128 denominator = 1;
};

// The points of the parts, one part behind the other.
struct UnionDescription {
  std::vector<PointMapPtr> parts;
};

// The map has no closed form: it is known point by point.
struct ListDescription {};

struct MapDescription {
  std::variant<ListDescription, LoopsDescription, DigitsDescription, ImageDescription,
               UnionDescription>
      form;
};

}  // namespace groma::domains
