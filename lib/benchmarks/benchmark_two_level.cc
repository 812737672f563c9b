// The applications cannon, summa and pumma: matrix multiplications on a grid of gx x gy nodes, each
// with a grid of 2 x 2 GPUs. A node multiplies the blocks of k one after the other, and its GPUs
// multiply the two halves of each block. The three algorithms differ only in the order of the
// blocks.
#include <fmt/format.h>

#include <string>
#include <utility>

#include "benchmarks/benchmark_matrix.h"
#include "benchmarks/benchmarks.h"

namespace groma::app {
namespace {

// Returns a formula for the largest divisor of `nodes` (at most 1,024) that is not above the square
// root of `nodes`. The grid of nodes with this edge is the one that is nearest to a square.
Formula squarest() {
  std::string formula = "1";
  for (int d = 2; d <= 32; ++d) {
    formula = fmt::format("max({}, {} * (nodes % {} == 0) * (nodes >= {}))", formula, d, d, d * d);
  }
  return formula;
}

// The order in which an algorithm multiplies the blocks of k, as formulas.
struct MultiplicationOrder {
  // The block of k that node (in, jn) multiplies in outer step kos.
  const char* outer;
  // The half of this block that GPU (il, jl) multiplies in inner step kios.
  const char* inner;
};

// Returns the multiplication with this order of blocks. The tasks are nested: task_7 runs on a node
// and launches task_6 for each block of k, task_6 launches task_5 on each GPU of the node, and
// task_5 launches task_4 for each half. `narrow`: gy is the smaller edge of the grid of nodes;
// otherwise gx is.
Application two_level(std::string name, std::string description, bool narrow,
                      const MultiplicationOrder& order) {
  MatrixMultiplication multiplication(std::move(name), std::move(description));
  AppBuilder& app = multiplication.app();
  app.define(narrow ? "gy" : "gx", squarest())
      .define(narrow ? "gx" : "gy", narrow ? "nodes / gy" : "nodes / gx");
  const Formulas tiles = {"2 * gx", "2 * gy"};
  multiplication.add_matrix("A").partition("A_nodes", {"gx", "gy"}).partition("A_tiles", tiles);
  // The partitions of B are, from large to small: the part of a node, the part of a node for one
  // block of k, the part of a GPU within that block, and one half of that part.
  multiplication.add_matrix("B")
      .partition("B_tiles", tiles)
      .partition("B_rows", {"gx", 1})
      .partition("B_blocks", {"gx", "gx"})
      .partition("B_halves", {"2 * gx", "gx"})
      .partition("B_quarters", {"2 * gx", "2 * gx"});
  multiplication.add_matrix("C")
      .partition("C_tiles", tiles)
      .partition("C_columns", {1, "gy"})
      .partition("C_blocks", {"gx", "gy"})
      .partition("C_halves", {"gx", "2 * gy"});
  multiplication.add_placement(false, "A_tiles", "B_tiles", "C_tiles");
  multiplication.add_multiply_task(Privilege::kReadWrite);

  const Formula row = "2 * in + il", column = "2 * jn + jl";
  const Formula half = std::string("2 * kk + ") + order.inner;
  app.task("task_5", {"in", "jn", "kk", "il", "jl"})
      .variant(gpu().inner())
      .writes("A")
      .reads("B")
      .reads("C")
      .body({loop(2,
                  {launch("task_4")
                       .on("A_tiles", {row, column})
                       .on("B_quarters", {row, half})
                       .on("C_tiles", {half, column})},
                  "kios")});
  app.task("task_6", {"in", "jn", "kk"})
      .variant(omp().inner())
      .writes("A")
      .reads("B")
      .reads("C")
      .body({launch("task_5")
                 .over({2, 2}, {"il", "jl"})
                 .with({"in", "jn", "kk", "il", "jl"})
                 .on("A_tiles", {row, column})
                 .on("B_halves", {row, "kk"})
                 .on("C_halves", {"kk", column})
                 .same_address_space()});
  app.task("task_7", {"in", "jn"})
      .variant(omp().inner())
      .writes("A")
      .reads("B")
      .reads("C")
      .body({loop("gx",
                  {launch("task_6")
                       .with({"in", "jn", order.outer})
                       .on("A_nodes", {"in", "jn"})
                       .on("B_blocks", {"in", order.outer})
                       .on("C_blocks", {order.outer, "jn"})},
                  "kos")});
  return multiplication.make_application(
      {launch("taco_fill").over(tiles), launch("taco_fill").over(tiles).on("B_tiles"),
       launch("taco_fill").over(tiles).on("C_tiles"), launch("task_1").over(tiles),
       launch("task_2").over(tiles), launch("task_3").over(tiles)},
      {launch("task_7")
           .over({"gx", "gy"}, {"in", "jn"})
           .with({"in", "jn"})
           .on("A_nodes")
           .on("B_rows", {"in", 0})
           .on("C_columns", {0, "jn"})},
      false, {launch("taco_validate").over(tiles)});
}

}  // namespace

// Cannon's algorithm: every GPU begins with a different block, so that no two GPUs fetch the same
// block in a step.
Application cannon() {
  return two_level("cannon", "Cannon's matrix multiplication (DISTAL).", true,
                   {"(jn + in + kos) % gx", "(jl + il + kios) % 2"});
}

// SUMMA: in each step, all GPUs multiply the same block of k. So a column of B and a row of C are
// sent to all.
Application summa() {
  return two_level("summa", "The SUMMA matrix multiplication (DISTAL).", false, {"kos", "kios"});
}

// PUMMA: in each step, all nodes of a row of the grid use the same block of B. The nodes of a
// column use the blocks of C one after the other.
Application pumma() {
  return two_level("pumma", "The PUMMA matrix multiplication (DISTAL).", false,
                   {"(in + kos) % gx", "kios"});
}

}  // namespace groma::app
