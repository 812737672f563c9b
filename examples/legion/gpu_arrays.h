// Converts Legion's data to the arrays of gpu.h.
#pragma once

#include <legion.h>

#include "gpu.h"

namespace gpu {

// Returns a field of a one-dimensional region as an array. `near` is a point in the region.
template <typename T, typename Accessor>
Array<T> array(const Accessor& field, Legion::coord_t near) {
  const auto address = [&](Legion::coord_t i) {
    return reinterpret_cast<const char*>(field.ptr(Legion::Point<1>(i)));
  };
  const std::ptrdiff_t stride = address(near + 1) - address(near);
  return {const_cast<char*>(address(near)) - near * stride, {stride}};
}

// Returns a field of doubles in two dimensions as a matrix. Its element (0, 0) is the point
// `origin`.
template <typename Accessor>
Matrix matrix(const Accessor& field, Legion::Point<2> origin) {
  const auto address = [&](Legion::coord_t x, Legion::coord_t y) {
    return reinterpret_cast<const char*>(field.ptr(origin + Legion::Point<2>(x, y)));
  };
  const char* const first = address(0, 0);
  return {const_cast<char*>(first), {address(1, 0) - first, address(0, 1) - first}};
}

}  // namespace gpu
