// A simple matrix multiplication. A search changes the text between the marks below. It may write
// anything there, as long as multiply() does what kernel.h says.
#include "kernel.h"

#include <algorithm>
// groma: begin flags  more headers, and pragmas for the compiler, which is called with -O2
#ifndef __clang__
#pragma GCC optimize("O2")  // groma: one of O1 O2 O3 Ofast
#endif
// groma: end

namespace {

// groma: begin blocking  the extents of the blocks into which the matrices are cut
constexpr std::size_t kRows = 32;     // groma: one of 4 8 16 32 64 128 256
constexpr std::size_t kColumns = 32;  // groma: one of 8 16 32 64 128 256 512 1024
constexpr std::size_t kDepth = 32;    // groma: one of 4 8 16 32 64 128 256 512
// groma: end

// groma: begin inner  c += a * b for one block; at the matrices' edges the extents are smaller
constexpr bool kColumnsLast = false;  // groma: one of false true
void multiply_block(std::size_t rows, std::size_t columns, std::size_t depth, std::size_t n,
                    const double* a, const double* b, double* c) {
  const std::size_t second = kColumnsLast ? depth : columns;
  const std::size_t third = kColumnsLast ? columns : depth;
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t y = 0; y < second; ++y) {
      for (std::size_t z = 0; z < third; ++z) {
        const std::size_t j = kColumnsLast ? z : y, k = kColumnsLast ? y : z;
        c[i * n + j] += a[i * n + k] * b[k * n + j];
      }
    }
  }
}
// groma: end

}  // namespace

// groma: begin loops  the order of the blocks, and copies of them if that helps
void multiply(std::size_t n, const double* a, const double* b, double* c) {
  std::fill(c, c + n * n, 0.0);
  for (std::size_t i = 0; i < n; i += kRows) {
    for (std::size_t j = 0; j < n; j += kColumns) {
      for (std::size_t k = 0; k < n; k += kDepth) {
        multiply_block(std::min(kRows, n - i), std::min(kColumns, n - j), std::min(kDepth, n - k),
                       n, a + i * n + k, b + k * n + j, c + i * n + j);
      }
    }
  }
}
// groma: end
