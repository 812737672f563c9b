// Johnson's multiplication: point (i, j, k) of a cube multiplies B(i, k) by C(k, j); the products
// along k are summed.
#include "benchmarks/benchmark_matrix.h"
#include "benchmarks/benchmarks.h"

namespace groma::app {

Application johnson() {
  Multiplication multiplication("johnson", "Johnson's 3-D matrix multiplication (DISTAL).");
  // The edge of the cube, from the original's table of runs: 8 points on 4 GPUs.
  multiplication.app().define("g", "ranks >= 256 ? 7 : ranks >= 128 ? 6 : ranks >= 16 ? 4 : 2");
  return multiplication.on_grid("g", "g", "g");
}

}  // namespace groma::app
