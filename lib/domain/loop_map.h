// LoopMap: the points of nested loops with affine bounds, in the order of the loops. The counters
// themselves are the coordinates, the outermost first.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "domain/point_map.h"
#include "domain/polynomial.h"

namespace groma::domains {

// Nested loops, the outermost first. Variables are numbered: the parameters, then the counters.
struct LoopNest {
  std::size_t parameters = 0;
  // For each loop: the first value of its counter, and the value behind the last one.
  std::vector<Polynomial> first, end;

  std::size_t depth() const { return first.size(); }
};

// The polynomials that count the points of a nest, for all parameters for which no loop has a
// negative length.
struct LoopCounts {
  // For each loop, the number of points of the loop and those inside it, and the number of points
  // before the iteration with this counter, both for given outer counters.
  std::vector<Polynomial> inside, before;
};
// Returns nullopt if a coefficient does not fit.
std::optional<LoopCounts> count_points(const LoopNest& nest);
// Returns true if the polynomials satisfy their recursion identically: `before` is 0 at the first
// counter, grows by `inside` of the next loop from one counter to the next, and is `inside` at the
// end. Together with lengths that are not negative, this proves the map for all parameters.
bool counts_are_right(const LoopNest& nest, const LoopCounts& counts);

// Why there is no map.
struct LoopFault {
  enum class Kind : std::uint8_t {
    // The numbers do not fit.
    kTooLarge,
    // The length of a loop may be negative.
    kNegativeLength,
    // A bound is not affine in the counters, or not an integer.
    kNotAffine,
  };
  Kind kind = Kind::kTooLarge;
  std::size_t loop = 0;
};

// Makes the map of a nest for these values of the parameters.
std::variant<PointMapPtr, LoopFault> make_loop_map(const LoopNest& nest, const LoopCounts& counts,
                                                   std::span<const std::int64_t> parameters);

}  // namespace groma::domains
