// A plain product of scaled fp8 matrices: each thread computes one element of c, and a block of
// threads shares tiles of a and b. A search changes the text between the marks. It may write anything
// there, as long as scaled_matmul() does what kernel.h says.
#include "kernel.h"

// groma: begin sizes  a block of threads computes kTile x kTile elements of c; kTile divides 128
constexpr int kTile = 16;   // groma: one of 8 16 32
constexpr int kUnroll = 1;  // groma: one of 1 2 4 8 16
// groma: end

// groma: begin kernel
__global__ void scaled_matmul_kernel(int rows, int columns, int depth, const Fp8* a, const Fp8* b,
                                     const float* a_scale, const float* b_scale, Bfloat16* c) {
  __shared__ float a_tile[kTile][kTile + 1], b_tile[kTile][kTile + 1];
  const int y = threadIdx.y, x = threadIdx.x;
  const int first_i = blockIdx.y * kTile, first_j = blockIdx.x * kTile;
  const int i = first_i + y, j = first_j + x;
  float sum = 0;
  for (int block = 0; block < depth / 128; ++block) {
    float products = 0;
    for (int first = 128 * block; first < 128 * (block + 1); first += kTile) {
      // Both matrices are stored by columns, so neighbouring threads read neighbouring rows.
      const int k = first + y;
      a_tile[y][x] = first_i + x < rows ? static_cast<float>(a[k * rows + first_i + x]) : 0.0F;
      b_tile[y][x] = static_cast<float>(b[k * columns + first_j + x]);
      __syncthreads();
#pragma unroll kUnroll
      for (int step = 0; step < kTile; ++step) products += a_tile[step][y] * b_tile[step][x];
      __syncthreads();
    }
    if (i < rows) {
      sum += products * a_scale[block * rows + i] * b_scale[block * (columns / 128) + j / 128];
    }
  }
  if (i < rows) c[i * columns + j] = __float2bfloat16(sum);
}
// groma: end

// groma: begin launch
void scaled_matmul(int rows, int columns, int depth, const Fp8* a, const Fp8* b,
                   const float* a_scale, const float* b_scale, Bfloat16* c) {
  const dim3 blocks(columns / kTile, (rows + kTile - 1) / kTile);
  scaled_matmul_kernel<<<blocks, dim3(kTile, kTile)>>>(rows, columns, depth, a, b, a_scale, b_scale,
                                                     c);
}
// groma: end
