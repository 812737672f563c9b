// The application solomonik: a 2.5-D matrix multiplication on c layers of a grid of rpoc x rpoc
// points. Each layer handles its part of k with the steps of Cannon's algorithm. Then the sums of
// the layers are added up.
#include "benchmarks/benchmark_matrix.h"
#include "benchmarks/benchmarks.h"

namespace groma::app {

// Returns the application. task_5 does the steps of one point of one layer, and launches task_4 for
// each step.
Application solomonik() {
  MatrixMultiplication multiplication("solomonik",
                                      "Solomonik's 2.5-D matrix multiplication (DISTAL).");
  AppBuilder& app = multiplication.app();
  // The original's table of (rpoc, c, steps) by the number of GPUs: (2,1,2) for 4, (2,2,2) for 8,
  // (4,1,4) for 16, (4,2,4) for 32, and so on.
  app.define("rpoc", "ranks >= 256 ? 16 : ranks >= 64 ? 8 : ranks >= 16 ? 4 : 2")
      .define("c", "ranks / (rpoc * rpoc)")
      .define("steps", "rpoc");
  const Formulas tiles = {"rpoc", "rpoc"};
  multiplication.add_matrix("A").partition("A_tiles", tiles);
  // The factors have three partitions each: the tiles where they lie, the part that a point needs
  // (layers), and the part for one step (steps). If c > 1, a point needs only a part of its tile.
  multiplication.add_matrix("B")
      .partition("B_tiles", tiles)
      .partition("B_layers", {"rpoc", "c"})
      .partition("B_steps", {"rpoc", "c * steps"});
  multiplication.add_matrix("C")
      .partition("C_tiles", tiles)
      .partition("C_layers", {"c", "rpoc"})
      .partition("C_steps", {"c * steps", "rpoc"});
  multiplication.add_placement(true, "A", "B", "C");
  multiplication.add_multiply_task(Privilege::kReduce);

  // The part of k that point (i, j, l) uses in step s. In a step, no two points in a row or a
  // column of a layer use the same part, as in Cannon's algorithm.
  const Formula step = "l * steps + (i + j + s) % steps";
  app.task("task_5", {"i", "j", "l"})
      .variant(gpu().inner())
      .reduces("A")
      .reads("B")
      .reads("C")
      .body({loop("steps",
                  {launch("task_4")
                       .on("A_tiles", {"i", "j"})
                       .on("B_steps", {"i", step})
                       .on("C_steps", {step, "j"})},
                  "s")});
  const auto place = [](const char* task, const char* of) {
    return launch(task).over({"rpoc", "rpoc", 1}, {"i", "j", "k"}).on(of, {"i", "j"});
  };
  return multiplication.make_application(
      {place("task_1", "A_tiles"), place("task_2", "B_tiles"), place("task_3", "C_tiles")},
      {launch("task_5")
           .over({"rpoc", "rpoc", "c"}, {"i", "j", "l"})
           .with({"i", "j", "l"})
           .on("A_tiles", {"i", "j"})
           .on("B_layers", {"i", "l"})
           .on("C_layers", {"l", "j"}),
       place("task_1", "A_tiles")},
      true);
}

}  // namespace groma::app
