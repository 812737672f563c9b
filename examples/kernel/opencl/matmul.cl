// A plain matrix product c = a * b in single precision, all in row-major order. A search changes
// the text between the marks. It may write anything there, as long as driver.cc finds its kernel
// matmul and c is right.

// groma: begin sizes  c is cut into tiles, one for each work-item; macros of the launch: driver.cc
#define LANES 1    // groma: one of 1 2 4 8 16
#define VECTORS 1  // groma: one of 1 2 3 4
#define TILE_X (LANES * VECTORS)
#define TILE_Y 1   // groma: one of 1 2 4 6 8 12
#define GROUP_X 8  // groma: one of 1 2 4 8 16 32 64
#define GROUP_Y 8  // groma: one of 1 2 4 8 16
#define UNROLL 1   // groma: one of 1 2 4 8
// groma: end

// groma: begin vectors  LANES neighbouring elements of a row as one value
#define JOIN_NAMES(x, y) x##y
#define JOIN(x, y) JOIN_NAMES(x, y)
#if LANES == 1
typedef float Vector;
#define LOAD(from) (*(from))
#define STORE(value, to) (*(to) = (value))
#else
typedef JOIN(float, LANES) Vector;
#define LOAD(from) JOIN(vload, LANES)(0, from)
#define STORE(value, to) JOIN(vstore, LANES)(value, 0, to)
#endif
// groma: end

// groma: begin edge  a tile that reaches over the edge of c, of which only a part is computed
void multiply_edge(int rows, int columns, int depth, global const float* a, global const float* b,
                   global float* c, int first_row, int first_column) {
  for (int i = first_row; i < min(rows, first_row + TILE_Y); ++i) {
    for (int j = first_column; j < min(columns, first_column + TILE_X); ++j) {
      float sum = 0;
      for (int k = 0; k < depth; ++k) sum += a[i * depth + k] * b[k * columns + j];
      c[i * columns + j] = sum;
    }
  }
}
// groma: end

// groma: begin product  the kernel
kernel void matmul(int rows, int columns, int depth, global const float* a, global const float* b,
                   global float* c) {
  const int i = get_global_id(1) * TILE_Y, j = get_global_id(0) * TILE_X;
  if (i + TILE_Y > rows || j + TILE_X > columns) {
    multiply_edge(rows, columns, depth, a, b, c, i, j);
    return;
  }
  Vector sums[TILE_Y][VECTORS];
  for (int y = 0; y < TILE_Y; ++y) {
    for (int v = 0; v < VECTORS; ++v) sums[y][v] = 0;
  }
#pragma unroll UNROLL
  for (int k = 0; k < depth; ++k) {
    for (int v = 0; v < VECTORS; ++v) {
      const Vector row = LOAD(b + k * columns + j + v * LANES);
      for (int y = 0; y < TILE_Y; ++y) sums[y][v] += a[(i + y) * depth + k] * row;
    }
  }
  for (int y = 0; y < TILE_Y; ++y) {
    for (int v = 0; v < VECTORS; ++v) STORE(sums[y][v], c + (i + y) * columns + j + v * LANES);
  }
}
// groma: end
