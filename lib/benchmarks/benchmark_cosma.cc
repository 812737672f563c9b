// The application cosma: a matrix multiplication on a grid of gx x gy x gz points. The sizes of the
// grid are those with which the least data moves. Each point fetches its part of both factors. The
// gz partial results of a tile of A are summed.
#include "benchmarks/benchmark_matrix.h"
#include "benchmarks/benchmarks.h"

namespace groma::app {

// Returns the application for the grid of the number of GPUs.
Application cosma() {
  MatrixMultiplication multiplication("cosma", "The COSMA matrix multiplication (DISTAL).");
  // The grid by the number of GPUs, as in the original's table: (1,2,2) for 4 GPUs, (2,2,2) for 8,
  // (2,2,4) for 16, (2,4,4) for 32, and so on for each doubling.
  multiplication.app()
      .define("gx", "ranks >= 512 ? 8 : ranks >= 64 ? 4 : ranks >= 8 ? 2 : 1")
      .define("gy", "ranks >= 256 ? 8 : ranks >= 32 ? 4 : 2")
      .define("gz", "ranks >= 128 ? 8 : ranks >= 16 ? 4 : 2");
  return multiplication.make_on_grid("gx", "gy", "gz");
}

}  // namespace groma::app
