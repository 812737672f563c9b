// A plain matrix product in half precision: each thread computes one element of c, and a block of
// threads shares tiles of a and b. A search changes the text between the marks. It may write anything
// there, as long as matmul() does what kernel.h says.
#include "kernel.h"

// groma: begin sizes  a block of threads computes kTile x kTile elements of c
constexpr int kTile = 16;   // groma: one of 8 16 32
constexpr int kUnroll = 1;  // groma: one of 1 2 4 8 16
// groma: end

// groma: begin kernel
__global__ void matmul_kernel(int rows, int columns, int depth, const Half* a, const Half* b,
                              Half* c) {
  __shared__ Half a_tile[kTile][kTile], b_tile[kTile][kTile];
  const int y = threadIdx.y, x = threadIdx.x;
  const int i = blockIdx.y * kTile + y, j = blockIdx.x * kTile + x;
  const Half zero = __float2half(0.0F);
  float sum = 0;
  for (int first = 0; first < depth; first += kTile) {
    a_tile[y][x] = i < rows && first + x < depth ? a[i * depth + first + x] : zero;
    b_tile[y][x] = first + y < depth && j < columns ? b[(first + y) * columns + j] : zero;
    __syncthreads();
#pragma unroll kUnroll
    for (int k = 0; k < kTile; ++k) sum += __half2float(a_tile[y][k]) * __half2float(b_tile[k][x]);
    __syncthreads();
  }
  if (i < rows && j < columns) c[i * columns + j] = __float2half(sum);
}
// groma: end

// groma: begin launch
void matmul(int rows, int columns, int depth, const Half* a, const Half* b, Half* c) {
  const dim3 blocks((columns + kTile - 1) / kTile, (rows + kTile - 1) / kTile);
  matmul_kernel<<<blocks, dim3(kTile, kTile)>>>(rows, columns, depth, a, b, c);
}
// groma: end
