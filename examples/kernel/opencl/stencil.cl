// A plain 3-D stencil with seven points: each element becomes a weighted sum of itself and its six
// neighbours, and the elements at the faces of the box are copied. A search changes the text between
// the marks. It may write anything there, as long as driver.cc finds its kernel stencil and out is
// right.

// groma: begin sizes  the box is cut into tiles, one for each work-item; the launch: driver.cc
#define TILE_X 1   // groma: one of 1 2 4 8 16 32 64 128
#define TILE_Y 1   // groma: one of 1 2 4 8 16
#define TILE_Z 1   // groma: one of 1 2 4 8 16
#define GROUP_X 8  // groma: one of 1 2 4 8 16 32 64
#define GROUP_Y 4  // groma: one of 1 2 4 8 16
#define GROUP_Z 1  // groma: one of 1 2 4 8
#define UNROLL 1   // groma: one of 1 2 4 8
// groma: end

// groma: begin element  one element of the result
float element(int width, int height, int depth, float centre, float side, global const float* in,
              int x, int y, int z) {
  const int layer = width * height, at = z * layer + y * width + x;
  if (x == 0 || y == 0 || z == 0 || x == width - 1 || y == height - 1 || z == depth - 1) {
    return in[at];
  }
  return centre * in[at] + side * (in[at - 1] + in[at + 1] + in[at - width] + in[at + width] +
                                   in[at - layer] + in[at + layer]);
}
// groma: end

// groma: begin loops  the kernel
kernel void stencil(int width, int height, int depth, float centre, float side,
                    global const float* in, global float* out) {
  const int first_x = get_global_id(0) * TILE_X, last_x = min(width, first_x + TILE_X);
  const int first_y = get_global_id(1) * TILE_Y, last_y = min(height, first_y + TILE_Y);
  const int first_z = get_global_id(2) * TILE_Z, last_z = min(depth, first_z + TILE_Z);
  for (int z = first_z; z < last_z; ++z) {
    for (int y = first_y; y < last_y; ++y) {
#pragma unroll UNROLL
      for (int x = first_x; x < last_x; ++x) {
        out[(z * height + y) * width + x] =
            element(width, height, depth, centre, side, in, x, y, z);
      }
    }
  }
}
// groma: end
