// DigitMap: a self-similar set. The digits of all coordinates at one place, in a base b, form a
// vector that must stand in a table of s vectors. The digits of k in base s choose the vectors.
#pragma once

#include <variant>
#include <vector>

#include "domain/point_map.h"

namespace groma::domains {

// Limit on the cells of one level: base^dimensions.
inline constexpr std::int64_t kMaxCells = std::int64_t{1} << 20;

// Why there is no map.
enum class DigitFault : std::uint8_t {
  // The base is less than 2, or it has too many cells; the levels are less than 0.
  kBadBase,
  kBadLevels,
  // The table has no entry, an entry twice, or an entry with a digit that the base does not have.
  kEmptyTable,
  kRepeatedEntry,
  kBadEntry,
  // The number of points or a coordinate does not fit 63 bits.
  kTooLarge,
};

// The place of a fault: the entry of the table. For kTooLarge: the largest number of levels that
// fits.
struct DigitFaultAt {
  DigitFault fault = DigitFault::kBadBase;
  std::int64_t place = 0;
};

// Makes the map for `levels` digits. `table` has s vectors of `dimensions` digits.
std::variant<PointMapPtr, DigitFaultAt> make_digit_map(std::int64_t base, std::int64_t levels,
                                                       int dimensions,
                                                       const std::vector<Coordinates>& table);

}  // namespace groma::domains
