// The functions that this example tunes. A kernel file defines one of them. It is called on the
// host, launches kernels on the default stream, and need not wait for their end.
#pragma once

#include "device.h"

// Computes c = a * b. a has rows x depth elements, b has depth x columns, all in row-major order.
// The products are added in single precision.
void matmul(int rows, int columns, int depth, const Half* a, const Half* b, Half* c);

// Computes the product of two scaled fp8 matrices, as language models use it:
//
//   c[i][j] = sum over k of a[i][k] * a_scale[i][k / 128] * b[j][k] * b_scale[j / 128][k / 128]
//
// a has rows x depth elements and b has columns x depth. Both are stored by columns: a[i][k] stands
// at k * rows + i, and b[j][k] at k * columns + j. The scales are stored in the same way:
// a_scale[i][s] stands at s * rows + i, and b_scale[t][s] at s * (columns / 128) + t. c is in
// row-major order. `columns` and `depth` are multiples of 128. The shape is that of a contest of
// the GPU MODE community and AMD in 2025.
void scaled_matmul(int rows, int columns, int depth, const Fp8* a, const Fp8* b,
                   const float* a_scale, const float* b_scale, Bfloat16* c);
