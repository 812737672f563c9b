// Computes the median and other percentiles of numbers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace groma {

// Returns the median of at least one value. For an even number of values it is the mean of the two
// middle ones.
inline double median(std::vector<double> values) {
  const std::size_t middle = values.size() / 2;
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(middle),
                   values.end());
  const double upper = values[middle];
  if (values.size() % 2 == 1) return upper;
  return (*std::max_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(middle)) +
          upper) /
         2;
}

// A percentile of measured times that is taken as the time of an undisturbed measurement. It is low
// because other work of the computer makes many of the measured times too long.
inline constexpr std::size_t kUndisturbedPercentile = 10;

// Returns the value at a percentile below 100 of the values from `begin` to `end`, at least one,
// and changes their order.
template <typename Iterator>
auto value_at_percentile(Iterator begin, Iterator end, std::size_t percent) {
  const auto at = begin + (end - begin) * static_cast<std::ptrdiff_t>(percent) / 100;
  std::nth_element(begin, at, end);
  return *at;
}

}  // namespace groma
