// Computes the median of numbers.
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

}  // namespace groma
