// COSMA: one multiplication for each point of the grid gx x gy x gz that moves the least data. Each
// point fetches its part of both factors; the gz partial results of a tile of A are summed.
#include "benchmarks/benchmark_matrix.h"
#include "benchmarks/benchmarks.h"

namespace groma::app {

Application cosma() {
  Multiplication multiplication("cosma", "The COSMA matrix multiplication (DISTAL).");
  // The original's table of grids: (1,2,2) for 4 GPUs, then (2,2,2), (2,2,4), (2,4,4), (4,4,4), and
  // so on for each doubling.
  multiplication.app()
      .define("gx", "ranks >= 512 ? 8 : ranks >= 64 ? 4 : ranks >= 8 ? 2 : 1")
      .define("gy", "ranks >= 256 ? 8 : ranks >= 32 ? 4 : 2")
      .define("gz", "ranks >= 128 ? 8 : ranks >= 16 ? 4 : 2");
  return multiplication.on_grid("gx", "gy", "gz");
}

}  // namespace groma::app
