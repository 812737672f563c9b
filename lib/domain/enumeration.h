// Enumeration: the points of a declaration in their order, found by following its text: nested
// loops count, digits are combined, conditions and coordinates are evaluated. No map is used, so
// that maps can be compared with it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "domain/point_map.h"
#include "domain/tree.h"

namespace groma::domains {

// Limits on an enumeration: on the iterations of loops, and on the points of a declaration with
// `or` or `except`, which are kept in memory.
inline constexpr std::int64_t kMaxIterations = std::int64_t{1} << 28;
inline constexpr std::int64_t kMaxKeptPoints = std::int64_t{1} << 20;

enum class EnumerationEnd : std::uint8_t {
  kComplete,
  // The function returned false.
  kStopped,
  // A limit was reached.
  kTooLarge,
};
// Calls f for each point. The declaration must be one for which a map was made.
EnumerationEnd enumerate_points(const std::vector<DeclarationTree>& trees,
                                const DeclarationTree& tree,
                                const std::vector<std::int64_t>& values,
                                const std::function<bool(const Coordinates& point)>& f);

}  // namespace groma::domains
