// What the six matrix multiplications share: A(i, j) = sum over k of B(i, k) C(k, j), n x n
// doubles, in DISTAL's tasks. They differ in how they cut the matrices and in what each leaf
// fetches when.
#pragma once

#include <string>

#include "groma/app_builder.h"

namespace groma::app {

// Parameters `nodes`, `n`, `repeats`; sizes; the metric; regions A, B and C, of which `cut` adds
// the partitions, each after its own region. `ranks` is the number of GPUs, 4 a node.
class Multiplication {
 public:
  Multiplication(std::string name, std::string description);

  AppBuilder& app() { return app_; }
  // A region, to add partitions of.
  AppBuilder& matrix(std::string name);

  // init_cublas, and the tasks 1, 2 and 3, which do nothing: where they run, the tiles of A, B and
  // C live from then on. `accumulates`: each multiplication ends with task_1, which has the partial
  // sums of A added up there.
  void add_placement(bool accumulates, std::string a, std::string b, std::string c);
  // task_4, cuBLAS's dgemm, A += B C on the data of its launch.
  void add_leaf(Privilege of_a);
  // top_level: init_cublas, `setup` and a wait, then the multiplication again and again, each
  // waited for; after all `check`. `warm_up`: one is not timed.
  Application done(std::vector<AppStatement> setup, std::vector<AppStatement> multiply,
                   bool warm_up, std::vector<AppStatement> check = {});
  // All of it, for one multiplication a point on a grid x by y by z: point (i, j, k) multiplies
  // B(i, k) by C(k, j), and what the z points of a tile of A have is added up.
  Application on_grid(const Formula& x, const Formula& y, const Formula& z);

 private:
  AppBuilder app_;
};

}  // namespace groma::app
