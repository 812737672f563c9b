// A matrix multiplication in the manner of Goto's BLAS: blocks are copied into the order in which
// they are read, and a tile of C stays in registers (Goto and van de Geijn, "Anatomy of
// high-performance matrix multiplication", 2008).
#include <algorithm>

#include "kernel.h"
// groma: begin flags  more headers, and pragmas for the compiler, which is called with -O2
#include <cstring>
#include <vector>
// groma: end

namespace {

// groma: begin blocking  the extents of the blocks into which the matrices are cut
#if defined(__AVX512F__)
constexpr std::size_t kLanes = 8;
#elif defined(__AVX__)
constexpr std::size_t kLanes = 4;
#else
constexpr std::size_t kLanes = 2;
#endif
constexpr std::size_t kQuarters = 4;  // groma: one of 2 3 4 5 6 7
constexpr std::size_t kVectors = 3;   // groma: one of 1 2 3 4 6
constexpr std::size_t kTileRows = kQuarters * kLanes / 4, kTileColumns = kVectors * kLanes;
constexpr std::size_t kRows = 12 * kTileRows;        // groma: one of 4 8 12 16 24 32
constexpr std::size_t kColumns = 60 * kTileColumns;  // groma: one of 15 30 60 120
constexpr std::size_t kDepth = 256;                  // groma: one of 64 128 192 256 384 512
// groma: end

// groma: begin inner  c += a * b for one block; at the matrices' edges the extents are smaller
using Vector = double __attribute__((vector_size(kLanes * sizeof(double))));

// Adds the product of two copied tiles to C. The tiles are stored so that for each of the `depth`
// steps of the inner dimension, the next kTileRows elements of `a` and the next kTileColumns
// elements of `b` are used.
void multiply_tile(std::size_t rows, std::size_t columns, std::size_t depth, std::size_t n,
                   const double* a, const double* b, double* c) {
  Vector sums[kTileRows][kVectors] = {};
  for (std::size_t k = 0; k < depth; ++k, a += kTileRows, b += kTileColumns) {
    Vector row[kVectors];
    std::memcpy(row, b, sizeof row);
#pragma GCC unroll 16
    for (std::size_t i = 0; i < kTileRows; ++i) {
#pragma GCC unroll 8
      for (std::size_t v = 0; v < kVectors; ++v) sums[i][v] += a[i] * row[v];
    }
  }
  double tile[kTileRows][kTileColumns];
  std::memcpy(tile, sums, sizeof tile);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) c[i * n + j] += tile[i][j];
  }
}
// groma: end

}  // namespace

// groma: begin loops  the order of the blocks, and copies of them if that helps
namespace {

// Copies a block as tiles of `tile` rows each (columns, if `across`), one after the other. The last
// tile is filled up with zeros.
void copy_tiles(const double* from, std::size_t n, std::size_t extent, std::size_t depth,
                std::size_t tile, bool across, double* to) {
  for (std::size_t first = 0; first < extent; first += tile) {
    for (std::size_t k = 0; k < depth; ++k) {
      for (std::size_t i = first; i < first + tile; ++i) {
        *to++ = i >= extent ? 0.0 : across ? from[k * n + i] : from[i * n + k];
      }
    }
  }
}

}  // namespace

void multiply(std::size_t n, const double* a, const double* b, double* c) {
  std::fill(c, c + n * n, 0.0);
  std::vector<double> rows(kRows * kDepth), columns(kColumns * kDepth);
  for (std::size_t j = 0; j < n; j += kColumns) {
    const std::size_t width = std::min(kColumns, n - j);
    for (std::size_t k = 0; k < n; k += kDepth) {
      const std::size_t depth = std::min(kDepth, n - k);
      copy_tiles(b + k * n + j, n, width, depth, kTileColumns, true, columns.data());
      for (std::size_t i = 0; i < n; i += kRows) {
        const std::size_t height = std::min(kRows, n - i);
        copy_tiles(a + i * n + k, n, height, depth, kTileRows, false, rows.data());
        for (std::size_t y = 0; y < width; y += kTileColumns) {
          for (std::size_t x = 0; x < height; x += kTileRows) {
            multiply_tile(std::min(kTileRows, height - x), std::min(kTileColumns, width - y), depth,
                          n, rows.data() + x * depth, columns.data() + y * depth,
                          c + (i + x) * n + j + y);
          }
        }
      }
    }
  }
}
// groma: end
