// COSMA: one multiplication a point on the grid gx x gy x gz that moves least; a fetch of each
// factor and a sum of what the gz points of a tile of A have.
#include "app/benchmark_matrix.h"
#include "app/benchmarks.h"

namespace groma::app {

Application cosma() {
  Multiplication multiplication("cosma", "The COSMA matrix multiplication (DISTAL).");
  // The original's table: (1,2,2) for 4 GPUs, (2,2,2), (2,2,4), (2,4,4), (4,4,4), ... for twice
  // each.
  multiplication.app()
      .define("gx", "ranks >= 512 ? 8 : ranks >= 64 ? 4 : ranks >= 8 ? 2 : 1")
      .define("gy", "ranks >= 256 ? 8 : ranks >= 32 ? 4 : 2")
      .define("gz", "ranks >= 128 ? 8 : ranks >= 16 ? 4 : 2");
  return multiplication.on_grid("gx", "gy", "gz");
}

}  // namespace groma::app
