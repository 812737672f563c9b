// Quantities for people: three digits, in the largest unit of which there is at least one.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace groma {

// "12.3 ms": `value` in the first of the units, each of which is `step` of the one before.
std::string in_units(double value, double step, std::span<const std::string_view> units);

// "1.50 GiB"
std::string bytes_words(std::int64_t bytes);

}  // namespace groma
