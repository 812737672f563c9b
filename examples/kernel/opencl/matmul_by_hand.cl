// A matrix product that a person optimised for a processor with wide vectors (PoCL). A work-group
// has one work-item, which computes a panel of c. It copies the columns of b that it needs, DEPTH
// rows at a time, into local memory, where they are read in order. ROWS x 2 vectors of sums stay in
// registers: 24 of the 32 that AVX-512 has.

// groma: begin sizes  c is cut into tiles, one for each work-item; macros of the launch: driver.cc
#define LANES 16   // groma: one of 4 8 16
#define ROWS 12    // groma: one of 4 6 8 10 12 14
#define BLOCKS 8   // groma: one of 2 4 8 16 32
#define DEPTH 128  // groma: one of 32 64 128 256 512
#define TILE_X (2 * LANES)
#define TILE_Y (ROWS * BLOCKS)
#define GROUP_X 1
#define GROUP_Y 1
// groma: end

// groma: begin vectors  LANES neighbouring elements of a row as one value
#define JOIN_NAMES(x, y) x##y
#define JOIN(x, y) JOIN_NAMES(x, y)
typedef JOIN(float, LANES) Vector;
#define LOAD(from) JOIN(vload, LANES)(0, from)
#define STORE(value, to) JOIN(vstore, LANES)(value, 0, to)
// groma: end

// groma: begin edge  a tile that reaches over the edge of c, of which only a part is computed
// Copies `steps` rows of a tile of b. Columns behind the edge become 0.
void copy_tile(int steps, int width, int columns, global const float* from, local float* to) {
  for (int k = 0; k < steps; ++k, from += columns, to += TILE_X) {
    if (width == TILE_X) {
      STORE(LOAD(from), to);
      STORE(LOAD(from + LANES), to + LANES);
    } else {
      for (int x = 0; x < TILE_X; ++x) to[x] = x < width ? from[x] : 0;
    }
  }
}

// Stores a row of sums, or adds it to what earlier steps have stored.
void store_row(bool adds, int width, Vector left, Vector right, global float* to) {
  if (width == TILE_X) {
    STORE(adds ? left + LOAD(to) : left, to);
    STORE(adds ? right + LOAD(to + LANES) : right, to + LANES);
    return;
  }
  float sums[TILE_X];
  STORE(left, sums);
  STORE(right, sums + LANES);
  for (int x = 0; x < width; ++x) to[x] = adds ? to[x] + sums[x] : sums[x];
}
// groma: end

// groma: begin product  the kernel
kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void matmul(int rows, int columns, int depth, global const float* restrict a,
            global const float* restrict b, global float* restrict c) {
  local float tile[DEPTH * TILE_X];
  const int j = get_global_id(0) * TILE_X, first_row = get_global_id(1) * TILE_Y;
  const int width = min(TILE_X, columns - j), last_row = min(rows, first_row + TILE_Y);
  for (int first = 0; first < depth; first += DEPTH) {
    const int steps = min(DEPTH, depth - first);
    copy_tile(steps, width, columns, b + first * columns + j, tile);
    for (int i = first_row; i < last_row; i += ROWS) {
      // Rows behind the last one are computed from the last one, and not stored.
      global const float* from[ROWS];
      Vector left[ROWS], right[ROWS];
#pragma unroll
      for (int y = 0; y < ROWS; ++y) {
        from[y] = a + min(i + y, rows - 1) * depth + first;
        left[y] = right[y] = 0;
      }
      for (int k = 0; k < steps; ++k) {
        const Vector b_left = LOAD(tile + k * TILE_X), b_right = LOAD(tile + k * TILE_X + LANES);
#pragma unroll
        for (int y = 0; y < ROWS; ++y) {
          left[y] = fma((Vector)from[y][k], b_left, left[y]);
          right[y] = fma((Vector)from[y][k], b_right, right[y]);
        }
      }
#pragma unroll
      for (int y = 0; y < ROWS; ++y) {
        if (i + y < last_row) {
          store_row(first > 0, width, left[y], right[y], c + (i + y) * columns + j);
        }
      }
    }
  }
}
// groma: end
