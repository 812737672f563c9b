// A matrix product in half precision that a person optimised for tensor cores (sm_75 and later). A
// block of eight warps computes 128 x 128 elements of c. While it multiplies one tile, the next one
// is copied to shared memory (asynchronously from sm_80 on). Each warp keeps 64 x 32 sums in
// registers. It needs NVIDIA's headers mma.h and cuda_pipeline.h.
#include <cuda_pipeline.h>
#include <mma.h>

#include "kernel.h"

namespace wmma = nvcuda::wmma;

// groma: begin sizes  a block of threads computes kRows x kColumns elements of c
constexpr int kRows = 128, kColumns = 128, kDepth = 32, kThreads = 256;
// Rows of the tiles are padded, so that they begin in different banks of the shared memory.
constexpr int kPadding = 8;
// groma: end

// groma: begin kernel
// A tile of a and a tile of b.
struct Tiles {
  Half a[kRows][kDepth + kPadding];
  Half b[kDepth][kColumns + kPadding];
};

// Copies `kHeight` x `kWidth` elements of a matrix, beginning at (first_row, first_column), into a
// tile. Elements outside the matrix become 0. If kAligned, `width` is a multiple of 8 and the
// matrix begins at a multiple of 16 bytes.
template <bool kAligned, int kHeight, int kWidth>
__device__ void copy_tile(const Half* matrix, int height, int width, int first_row,
                          int first_column, Half (*to)[kWidth + kPadding]) {
  if (kAligned) {
    constexpr int kChunks = kWidth / 8;
    for (int chunk = threadIdx.x; chunk < kHeight * kChunks; chunk += kThreads) {
      const int y = chunk / kChunks, x = chunk % kChunks * 8;
      const int row = first_row + y, column = first_column + x;
      const bool inside = row < height && column < width;
      const Half* from = inside ? matrix + static_cast<size_t>(row) * width + column : matrix;
      __pipeline_memcpy_async(&to[y][x], from, 16, inside ? 0 : 16);
    }
  } else {
    for (int at = threadIdx.x; at < kHeight * kWidth; at += kThreads) {
      const int y = at / kWidth, x = at % kWidth;
      const int row = first_row + y, column = first_column + x;
      to[y][x] = row < height && column < width ? matrix[static_cast<size_t>(row) * width + column]
                                                : __float2half(0.0F);
    }
  }
}

template <bool kAligned>
__global__ void __launch_bounds__(kThreads)
    matmul_kernel(int rows, int columns, int depth, const Half* a, const Half* b, Half* c) {
  __shared__ __align__(16) Tiles tiles[2];
  __shared__ __align__(16) float staged[kThreads / 32][16][16];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int first_row = blockIdx.y * kRows, first_column = blockIdx.x * kColumns;
  const int warp_row = warp / 4 * 64, warp_column = warp % 4 * 32;
  const auto copy = [&](int first, Tiles& to) {
    copy_tile<kAligned, kRows, kDepth>(a, rows, depth, first_row, first, to.a);
    copy_tile<kAligned, kDepth, kColumns>(b, depth, columns, first, first_column, to.b);
    __pipeline_commit();
  };

  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums[4][2];
  for (int y = 0; y < 4; ++y) {
    for (int x = 0; x < 2; ++x) wmma::fill_fragment(sums[y][x], 0.0F);
  }
  copy(0, tiles[0]);
  for (int first = 0, step = 0; first < depth; first += kDepth, ++step) {
    // The last step copies a tile of zeros, which is not used.
    copy(first + kDepth, tiles[(step + 1) % 2]);
    __pipeline_wait_prior(1);
    __syncthreads();
    const Tiles& tile = tiles[step % 2];
#pragma unroll
    for (int k = 0; k < kDepth; k += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, Half, wmma::row_major> left[4];
      wmma::fragment<wmma::matrix_b, 16, 16, 16, Half, wmma::row_major> right[2];
      for (int y = 0; y < 4; ++y) {
        wmma::load_matrix_sync(left[y], &tile.a[warp_row + 16 * y][k], kDepth + kPadding);
      }
      for (int x = 0; x < 2; ++x) {
        wmma::load_matrix_sync(right[x], &tile.b[k][warp_column + 16 * x], kColumns + kPadding);
      }
      for (int y = 0; y < 4; ++y) {
        for (int x = 0; x < 2; ++x) wmma::mma_sync(sums[y][x], left[y], right[x], sums[y][x]);
      }
    }
    // The next step overwrites this tile.
    __syncthreads();
  }
  for (int y = 0; y < 4; ++y) {
    for (int x = 0; x < 2; ++x) {
      wmma::store_matrix_sync(&staged[warp][0][0], sums[y][x], 16, wmma::mem_row_major);
      __syncthreads();
      for (int at = lane; at < 256; at += 32) {
        const int row = first_row + warp_row + 16 * y + at / 16;
        const int column = first_column + warp_column + 16 * x + at % 16;
        if (row < rows && column < columns) {
          c[static_cast<size_t>(row) * columns + column] =
              __float2half(staged[warp][at / 16][at % 16]);
        }
      }
      __syncthreads();
    }
  }
}
// groma: end

// groma: begin launch
void matmul(int rows, int columns, int depth, const Half* a, const Half* b, Half* c) {
  const dim3 blocks((columns + kColumns - 1) / kColumns, (rows + kRows - 1) / kRows);
  if (columns % 8 == 0 && depth % 8 == 0) {
    matmul_kernel<true><<<blocks, kThreads>>>(rows, columns, depth, a, b, c);
  } else {
    matmul_kernel<false><<<blocks, kThreads>>>(rows, columns, depth, a, b, c);
  }
}
// groma: end
