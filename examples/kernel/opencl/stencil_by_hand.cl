// A stencil that a person optimised for a processor with wide vectors (PoCL). A work-item computes
// whole rows, LANES elements at a time. Only the rows and elements at the faces of the box, and the
// rest of a row that fills no vector, are handled one by one.

// groma: begin sizes  the box is cut into tiles, one for each work-item; the launch: driver.cc
#define LANES 16  // groma: one of 4 8 16
#define TILE_X 16384
#define TILE_Y 16  // groma: one of 4 8 16 32 64
#define TILE_Z 4   // groma: one of 1 2 4 8 16
#define GROUP_X 1
#define GROUP_Y 1
#define GROUP_Z 1
// groma: end

// groma: begin element  LANES elements of the result
#define JOIN_NAMES(x, y) x##y
#define JOIN(x, y) JOIN_NAMES(x, y)
typedef JOIN(float, LANES) Vector;
#define LOAD(from) JOIN(vload, LANES)(0, from)
#define STORE(value, to) JOIN(vstore, LANES)(value, 0, to)

// Computes `count` neighbouring elements of a row, none of which lies at a face of the box.
void compute_row(int count, int width, int layer, float centre, float side, global const float* in,
                 global float* out) {
  int x = 0;
  for (; x + LANES <= count; x += LANES, in += LANES, out += LANES) {
    const Vector sum = (LOAD(in - 1) + LOAD(in + 1)) + (LOAD(in - width) + LOAD(in + width)) +
                       (LOAD(in - layer) + LOAD(in + layer));
    STORE(fma((Vector)side, sum, centre * LOAD(in)), out);
  }
  for (; x < count; ++x, ++in, ++out) {
    *out = centre * in[0] + side * (in[-1] + in[1] + in[-width] + in[width] + in[-layer] + in[layer]);
  }
}
// groma: end

// groma: begin loops  the kernel
kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void stencil(int width, int height, int depth, float centre, float side,
             global const float* restrict in, global float* restrict out) {
  const int first_y = get_global_id(1) * TILE_Y, last_y = min(height, first_y + TILE_Y);
  const int first_z = get_global_id(2) * TILE_Z, last_z = min(depth, first_z + TILE_Z);
  const int layer = width * height;
  for (int z = first_z; z < last_z; ++z) {
    for (int y = first_y; y < last_y; ++y) {
      const int at = z * layer + y * width;
      if (z == 0 || z == depth - 1 || y == 0 || y == height - 1) {
        for (int x = 0; x < width; ++x) out[at + x] = in[at + x];
        continue;
      }
      out[at] = in[at];
      out[at + width - 1] = in[at + width - 1];
      compute_row(width - 2, width, layer, centre, side, in + at + 1, out + at + 1);
    }
  }
}
// groma: end
