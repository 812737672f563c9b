// Writes quantities for people, such as "1.50 MiB".
#include "base/quantities.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstddef>

namespace groma {

// Returns a value with about three significant digits, in the largest of `units` in which it is at
// least 1 (or in the first unit). Each unit is `step` times the one before it. A value that
// rounding would raise to `step` is written in the next unit.
std::string format_in_units(double value, double step, std::span<const std::string_view> units) {
  std::size_t unit = 0;
  while (unit + 1 < units.size() && std::abs(value) >= step * 0.9995) {
    value /= step;
    ++unit;
  }
  const double size = std::abs(value);
  const int digits = unit == 0 || size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
  return fmt::format("{:.{}f} {}", value, digits, units[unit]);
}

std::string format_bytes(std::int64_t bytes) {
  constexpr std::array<std::string_view, 6> kUnits = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  return format_in_units(static_cast<double>(bytes), 1024, kUnits);
}

}  // namespace groma
