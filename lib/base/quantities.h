// Writes quantities for people with three digits, in the largest unit in which the value is at
// least one.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace groma {

// Returns text such as "12.3 ms". `value` is in the first of `units`. Each further unit is `step`
// times the one before it.
std::string format_in_units(double value, double step, std::span<const std::string_view> units);

// Returns text such as "1.50 GiB".
std::string format_bytes(std::int64_t bytes);

}  // namespace groma
