// The shared parts of the six matrix multiplications: parameters, regions, the tasks that place the
// matrices, and the top-level task.
#include "benchmarks/benchmark_matrix.h"

namespace groma::app {
namespace {

// Returns a GPU variant that executes nothing. The data of its task is mapped but not accessed,
// which places the data.
VariantBuilder nothing() { return gpu().leaf().kernels(0).traffic(0, 0); }

}  // namespace

// Adds the parameters, sizes and the metric, which counts 2n - 1 operations for each element of the
// result.
MatrixMultiplication::MatrixMultiplication(std::string name, std::string description)
    : app_(std::move(name), std::move(description)) {
  app_.parameter("nodes", 1, "nodes of the machine, with 4 GPUs each", 1, 1'024)
      .counts_nodes()
      .parameter("n", 4'000, "rows and columns of a matrix; it does not grow with nodes", 16,
                 400'000)
      // The original programs also time 10 multiplications by default.
      .parameter("repeats", 10, "timed multiplications", 1, 50);
  app_.define("ranks", "4 * nodes");
  app_.size("small", {{"n", 1'000}},
            "0.1 ms of arithmetic on 4 GPUs: what launches and copies cost")
      .size("middle", {{"n", 4'000}}, "7 ms of arithmetic, as long as the copies take")
      .size("large", {{"n", 20'000}},
            "the originals' on one node: 3.2 GB a matrix, up to 7 GB on a GPU by a bad mapping");
  app_.metric("FLOP/s", "repeats * n * n * (2 * n - 1)", "compute");
}

AppBuilder& MatrixMultiplication::add_matrix(std::string name) {
  return app_.region(std::move(name), {"n", "n"}).field("vals", 8);
}

// Adds the tasks by which a mapping decides where each matrix lies. They do no work themselves.
void MatrixMultiplication::add_placement(bool accumulates, std::string a, std::string b,
                                         std::string c) {
  app_.task("init_cublas").variant(gpu().leaf().kernels(0));
  if (accumulates) {
    // The original launches task_1 write-only at first and read-only after each multiplication. The
    // privilege read-write covers both.
    app_.task("task_1").variant(nothing()).writes(std::move(a));
    app_.task("task_2").variant(nothing()).discards(std::move(b));
    app_.task("task_3").variant(nothing()).discards(std::move(c));
  } else {
    app_.task("task_1").variant(nothing()).reads(a);
    app_.task("task_2").variant(nothing()).reads(std::move(b));
    app_.task("task_3").variant(nothing()).reads(std::move(c));
    app_.task("taco_fill")
        .variant(cpu().leaf())
        .variant(omp().leaf())
        .variant(gpu().leaf())
        .discards(a);
    app_.task("taco_validate")
        .variant(cpu().leaf())
        .variant(omp().leaf())
        .variant(gpu().leaf())
        .reads(std::move(a));
  }
}

// Adds task_4: 2 operations for each element of A's tile and each index k.
void MatrixMultiplication::add_multiply_task(Privilege privilege_of_a) {
  // cuBLAS takes the leading dimension from the stride of rows, so the program needs C order. In
  // Fortran order it fails with "DGEMM parameter number 8 had an illegal value".
  VariantBuilder dgemm = gpu().leaf().flops("2 * extent(0, 0) * extent(0, 1) * extent(1, 1)");
  for (std::uint32_t r = 0; r < 3; ++r) {
    LayoutDemand demand;
    demand.requirement = r;
    demand.dimensions = DimensionOrder::kC;
    dgemm.demand(demand);
  }
  app_.task("task_4").variant(dgemm);
  if (privilege_of_a == Privilege::kReduce) {
    app_.reduces("A").simultaneous();
  } else {
    app_.writes("A");
  }
  app_.reads("B").reads("C");
}

// Adds the top-level task. Only the repeated multiplications are in the phase that the metric
// measures.
Application MatrixMultiplication::make_application(std::vector<AppStatement> setup,
                                                   std::vector<AppStatement> multiply, bool warm_up,
                                                   std::vector<AppStatement> check) {
  std::vector<AppStatement> body = {launch("init_cublas").over({"ranks"})};
  body.insert(body.end(), setup.begin(), setup.end());
  body.push_back(wait());
  multiply.push_back(wait());
  if (warm_up) body.insert(body.end(), multiply.begin(), multiply.end());
  body.push_back(phase("compute", {loop("repeats", std::move(multiply))}));
  body.insert(body.end(), check.begin(), check.end());
  return app_.task("top_level").variant(cpu()).body(std::move(body)).top_level("top_level").done();
}

// Each point of the grid multiplies one tile of B by one tile of C and reduces to a tile of A.
// task_1 then reads A, which makes the runtime add the partial results up.
Application MatrixMultiplication::make_on_grid(const Formula& x, const Formula& y,
                                               const Formula& z) {
  add_matrix("A").partition("A_tiles", {x, y});
  add_matrix("B").partition("B_tiles", {x, z});
  add_matrix("C").partition("C_tiles", {z, y});
  add_placement(true, "A", "B", "C");
  add_multiply_task(Privilege::kReduce);
  const auto over = [](const char* task, const Formulas& domain) {
    return launch(task).over(domain, {"i", "j", "k"});
  };
  const auto place_a = over("task_1", {x, y, 1}).on("A_tiles", {"i", "j"});
  return make_application({place_a, over("task_2", {x, 1, z}).on("B_tiles", {"i", "k"}),
                           over("task_3", {1, y, z}).on("C_tiles", {"k", "j"})},
                          {over("task_4", {x, y, z})
                               .on("A_tiles", {"i", "j"})
                               .on("B_tiles", {"i", "k"})
                               .on("C_tiles", {"k", "j"}),
                           place_a},
                          true);
}

}  // namespace groma::app
