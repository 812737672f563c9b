// Johnson's multiplication: point (i, j, k) of a cube multiplies B(i, k) by C(k, j); the products
// of a column k are added up.
#include "app/benchmark_matrix.h"
#include "app/benchmarks.h"

namespace groma::app {

Application johnson() {
  Multiplication multiplication("johnson", "Johnson's 3-D matrix multiplication (DISTAL).");
  // The edge of the cube, from the original's table of runs: 8 points on 4 GPUs.
  multiplication.app().define("g", "ranks >= 256 ? 7 : ranks >= 128 ? 6 : ranks >= 16 ? 4 : 2");
  multiplication.matrix("A").partition("A_tiles", {"g", "g"});
  multiplication.matrix("B").partition("B_tiles", {"g", "g"});
  multiplication.matrix("C").partition("C_tiles", {"g", "g"});
  multiplication.add_placement(true, "A", "B", "C");
  multiplication.add_leaf(Privilege::kReduce);

  const auto place_a =
      launch("task_1").over({"g", "g", 1}, {"i", "j", "k"}).on("A_tiles", {"i", "j"});
  return multiplication.done(
      {place_a, launch("task_2").over({"g", 1, "g"}, {"i", "j", "k"}).on("B_tiles", {"i", "k"}),
       launch("task_3").over({1, "g", "g"}, {"i", "j", "k"}).on("C_tiles", {"k", "j"})},
      {launch("task_4")
           .over({"g", "g", "g"}, {"i", "j", "k"})
           .on("A_tiles", {"i", "j"})
           .on("B_tiles", {"i", "k"})
           .on("C_tiles", {"k", "j"}),
       place_a},
      true);
}

}  // namespace groma::app
