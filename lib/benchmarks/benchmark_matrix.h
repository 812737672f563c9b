// The common parts of the six matrix multiplications: A(i, j) = sum over k of B(i, k) C(k, j), with
// n x n doubles, in DISTAL's tasks. The multiplications differ in how they cut the matrices, and in
// which tiles a task fetches at which time.
#pragma once

#include <string>

#include "groma/app_builder.h"

namespace groma::app {

// Builds one multiplication. The constructor adds the parameters `nodes`, `n` and `repeats`, the
// sizes, the metric and the definition `ranks`, the number of GPUs (4 for each node). The caller
// adds the regions A, B and C with matrix(), and the partitions of each region after it.
class MatrixMultiplication {
 public:
  MatrixMultiplication(std::string name, std::string description);

  AppBuilder& app() { return app_; }
  // Adds a region. The caller then adds its partitions.
  AppBuilder& add_matrix(std::string name);

  // Adds init_cublas, and the tasks task_1, task_2 and task_3, which do nothing. The tiles of A, B
  // and C stay where these tasks ran. `accumulates`: each multiplication ends with task_1, so that
  // the partial sums of A are added up there.
  void add_placement(bool accumulates, std::string a, std::string b, std::string c);
  // Adds task_4, the dgemm of cuBLAS: A += B C on the data of its launch. `privilege_of_a` is the
  // privilege on A, kReduce or kReadWrite.
  void add_multiply_task(Privilege privilege_of_a);
  // Adds top_level: init_cublas, `setup`, a wait, then the repeated multiplication with a wait
  // after each, then `check`. `warm_up`: one multiplication is not timed.
  Application make_application(std::vector<AppStatement> setup, std::vector<AppStatement> multiply,
                               bool warm_up, std::vector<AppStatement> check = {});
  // Returns the whole application for one multiplication at each point of a grid x by y by z. Point
  // (i, j, k) multiplies B(i, k) by C(k, j). The results of the z points of a tile of A are added
  // up.
  Application make_on_grid(const Formula& x, const Formula& y, const Formula& z);

 private:
  AppBuilder app_;
};

}  // namespace groma::app
