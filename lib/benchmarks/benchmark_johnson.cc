// The application johnson: a matrix multiplication on a cube of points. Point (i, j, k) multiplies
// B(i, k) by C(k, j), and the products along k are summed.
#include "benchmarks/benchmark_matrix.h"
#include "benchmarks/benchmarks.h"

namespace groma::app {

// Returns the application for the cube of the number of GPUs.
Application johnson() {
  MatrixMultiplication multiplication("johnson", "Johnson's 3-D matrix multiplication (DISTAL).");
  // The edge of the cube by the number of GPUs, as in the original's table of runs. For example, 4
  // GPUs execute a cube of 8 points.
  multiplication.app().define("g", "ranks >= 256 ? 7 : ranks >= 128 ? 6 : ranks >= 16 ? 4 : 2");
  return multiplication.make_on_grid("g", "g", "g");
}

}  // namespace groma::app
