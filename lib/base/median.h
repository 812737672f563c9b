// The median of some numbers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace groma {

// Of at least one; of an even number the mean of the two in the middle.
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
