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
  multiplication.matrix("A").partition("A_tiles", {"gx", "gy"});
  multiplication.matrix("B").partition("B_tiles", {"gx", "gz"});
  multiplication.matrix("C").partition("C_tiles", {"gz", "gy"});
  multiplication.add_placement(true, "A", "B", "C");
  multiplication.add_leaf(Privilege::kReduce);

  const auto place_a =
      launch("task_1").over({"gx", "gy", 1}, {"i", "j", "k"}).on("A_tiles", {"i", "j"});
  return multiplication.done(
      {place_a, launch("task_2").over({"gx", 1, "gz"}, {"i", "j", "k"}).on("B_tiles", {"i", "k"}),
       launch("task_3").over({1, "gy", "gz"}, {"i", "j", "k"}).on("C_tiles", {"k", "j"})},
      {launch("task_4")
           .over({"gx", "gy", "gz"}, {"i", "j", "k"})
           .on("A_tiles", {"i", "j"})
           .on("B_tiles", {"i", "k"})
           .on("C_tiles", {"k", "j"}),
       place_a},
      true);
}

}  // namespace groma::app
