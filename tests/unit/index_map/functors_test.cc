// The mapping functions of the listings in dsl/ against the same formulas written by hand in C++,
// point by point, on hundreds of machines and launches. Where a formula leaves the machine or reads
// a coordinate that the launch does not have, that very point is an error here.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "groma/benchmarks.h"
#include "groma/dsl_files.h"
#include "groma/evaluate.h"
#include "groma/geometry.h"
#include "groma/machine.h"
#include "groma/program.h"
#include "support/files.h"

namespace groma {
namespace {

struct Grid {
  std::int64_t nodes;
  std::int64_t gpus;
};

// A node and an index, on the machine or beyond it.
using Pair = std::array<std::int64_t, 2>;

// `ip` counts from the launch's lower corner. Nothing: it has too few coordinates.
using Formula = std::optional<Pair> (*)(const Grid&, const Point& extents, const Point& ip);

std::optional<Pair> cyclic(const Grid& grid, const Point&, const Point& ip) {
  return Pair{ip[0] % grid.nodes, ip[0] % grid.gpus};
}

std::optional<Pair> linear_block(const Grid& grid, const Point&, const Point& ip) {
  return Pair{ip[0] / grid.gpus, ip[0] % grid.gpus};
}

std::optional<Pair> linear_block_of_all(const Grid& grid, const Point& extents, const Point& ip) {
  const std::int64_t gpu = ip[0] * grid.nodes * grid.gpus / extents[0];
  return Pair{gpu / grid.gpus, gpu % grid.gpus};
}

std::optional<Pair> cyclic_1d(const Grid& grid, const Point&, const Point& ip) {
  return Pair{ip[0] % grid.nodes, ip[0] / grid.nodes % grid.gpus};
}

std::optional<Pair> linearize_3d(const Grid& grid, const Point&, const Point& ip) {
  if (ip.dimensions() < 3) return std::nullopt;
  const std::int64_t linear = ip[0] + ip[1] + ip[2];
  return Pair{linear % grid.nodes, linear % grid.gpus};
}

std::optional<Pair> linearize_2d(const Grid& grid, const Point&, const Point& ip) {
  if (ip.dimensions() < 3) return std::nullopt;
  const std::int64_t linear = ip[0] * 2 + ip[2];
  return Pair{linear % grid.nodes, linear % grid.gpus};
}

// The most square cut of a launch of l0 x l1 into n blocks: least traffic, then least surface, then
// the fewest rows of blocks.
Pair cut(std::int64_t n, std::int64_t l0, std::int64_t l1) {
  const auto up = [](std::int64_t a, std::int64_t b) { return (a + b - 1) / b; };
  Pair best = {0, 0};
  Pair best_cost = {0, 0};
  for (std::int64_t rows = 1; rows <= n; ++rows) {
    if (n % rows != 0) continue;
    const std::int64_t columns = n / rows;
    const Pair cost = {(rows - 1) * l1 + (columns - 1) * l0, up(l0, rows) + up(l1, columns)};
    if (best[0] == 0 || cost < best_cost) best = {rows, columns}, best_cost = cost;
  }
  return best;
}

std::optional<Pair> block_2d(const Grid& grid, const Point& extents, const Point& ip) {
  const auto up = [](std::int64_t a, std::int64_t b) { return (a + b - 1) / b; };
  const Pair nodes = cut(grid.nodes, extents[0], extents[1]);
  const Pair gpus = cut(grid.gpus, up(extents[0], nodes[0]), up(extents[1], nodes[1]));
  Pair node{}, gpu{};
  for (int d = 0; d < 2; ++d) {
    const auto i = static_cast<std::size_t>(d);
    const std::int64_t outer = up(extents[d], nodes[i]);
    node[i] = ip[d] / outer;
    gpu[i] = ip[d] % outer / up(outer, gpus[i]);
  }
  return Pair{node[0] + nodes[0] * node[1], gpu[0] + gpus[0] * gpu[1]};
}

struct Listing {
  std::string_view file;
  std::string_view function;
  Formula formula;
  int dimensions = 0;  // that a launch must have; 0: any
};

// Strategy 1 as the paper prints it, which the one in dsl/ mends.
constexpr std::string_view kPrinted = "printed_strategy01";

constexpr Listing kIndexMaps[] = {
    {"block2d", "block2d", block_2d, 2},
    {"figure2a", "cyclic", cyclic},
    {"solomonik_a6", "block1d", cyclic},
    {"solomonik_a7", "linearize3D", linearize_3d},
    {"solomonik_a7", "linearize2D", linearize_2d},
    {kPrinted, "linearblock", linear_block},
    {"strategy01", "linearblock", linear_block_of_all},
    {"strategy10", "cyclic1d", cyclic_1d},
};

constexpr std::string_view kSingleMaps[] = {"circuit_a4", "circuit_a5", "solomonik_a6",
                                            "solomonik_a7"};

std::vector<DslFile> all_files() {
  std::vector<DslFile> files(strategies().begin(), strategies().end());
  files.insert(files.end(), mappers().begin(), mappers().end());
  return files;
}

Program listing(std::string_view file) {
  static const std::string printed = testing::read_text(
      testing::in_tree("tests/language/accept/" + std::string(kPrinted) + ".mapper"));
  std::vector<DslFile> files = all_files();
  files.push_back({kPrinted, "", printed, ""});
  for (const DslFile& each : files) {
    if (each.name != file) continue;
    const Source source(std::string(file), std::string(each.text));
    Diagnostics diags(source);
    Program program = compile(source, diags);
    EXPECT_FALSE(diags.has_errors()) << render(diags);
    return program;
  }
  ADD_FAILURE() << "no listing " << file;
  return {};
}

std::vector<Grid> grids() {
  std::vector<Grid> grids;
  for (std::int64_t nodes = 1; nodes <= 9; ++nodes) {
    for (std::int64_t gpus = 1; gpus <= 8; ++gpus) grids.push_back({nodes, gpus});
  }
  return grids;
}

std::vector<Rect> launches() {
  const auto at = [](const Point& lower, const Point& extents) {
    return *Rect::make(lower, extents);
  };
  return {
      at({0}, {1}),
      at({0}, {23}),
      at({-5}, {17}),
      at({1'000'000'007}, {40}),
      at({0, 0}, {4, 4}),
      at({3, -7}, {5, 3}),
      at({-1, 1}, {1, 11}),
      at({0, 0, 0}, {2, 3, 4}),
      at({-2, 9, 1}, {5, 1, 3}),
      at({7, 7, 7}, {1, 1, 13}),
  };
}

BoundProgram bound_to(const Program& program, const Grid& grid) {
  Diagnostics diags(program.source());
  const std::string spec = fmt::format("nodes={},gpu={},cpu=2,omp=1", grid.nodes, grid.gpus);
  auto bound = bind(program, make_machine(spec).value(), diags);
  EXPECT_TRUE(bound) << render(diags);
  return *bound;
}

// Exactly this error, at this point.
void expect_error(const Diagnostics& diags, DiagId id, const std::string& point) {
  ASSERT_EQ(diags.all().size(), 1u) << render(diags);
  EXPECT_EQ(name_of(diags.all()[0].id), name_of(id)) << render(diags);
  EXPECT_NE(render(diags).find(point), std::string::npos) << render(diags) << point;
}

std::string text_of(const Point& point) {
  std::string text = "(";
  for (int i = 0; i < point.dimensions(); ++i)
    text += fmt::format("{}{}", i == 0 ? "" : ", ", point[i]);
  return text + (point.dimensions() == 1 ? ",)" : ")");
}

class ListingTest : public ::testing::TestWithParam<Listing> {
 protected:
  ListingTest()
      : program_(listing(GetParam().file)),
        function_(*program_.find_function(GetParam().function)) {}

  void compare(const Grid& grid, const Rect& domain, FunctionEvaluator& evaluator) {
    TaskPoint task;
    task.name = "task_1";
    task.domain = domain;
    task.point = domain.lower;
    do {
      Point relative = task.point;
      for (int i = 0; i < relative.dimensions(); ++i) relative[i] -= domain.lower[i];
      Diagnostics diags(program_.source());
      const auto placed = evaluator.place(function_, task, ProcKind::kGpu, diags);
      const auto expected = GetParam().formula(grid, domain.extents, relative);
      if (!expected) {
        ++unreadable_;
        EXPECT_FALSE(placed);
        expect_error(diags, DiagId::kIndexOutOfRange, text_of(task.point));
      } else if ((*expected)[0] >= grid.nodes || (*expected)[1] >= grid.gpus) {
        ++outside_;
        EXPECT_FALSE(placed);
        expect_error(diags, DiagId::kSliceIndexOutOfBound, text_of(task.point));
      } else {
        ++placed_;
        ASSERT_TRUE(placed) << render(diags);
        const Processor processor{ProcKind::kGpu, (*expected)[0], (*expected)[1]};
        EXPECT_EQ(placed->processors, std::vector<Processor>{processor});
      }
    } while (!HasFailure() && next_point(domain, &task.point));
  }

  const Program program_;
  const FunctionId function_;
  int placed_ = 0, outside_ = 0, unreadable_ = 0;
};

TEST_P(ListingTest, EqualsTheFormula) {
  for (const Grid& grid : grids()) {
    FunctionEvaluator evaluator(bound_to(program_, grid));
    for (const Rect& domain : launches()) {
      const int needed = GetParam().dimensions;
      if (needed != 0 && needed != domain.dimensions()) continue;
      SCOPED_TRACE(fmt::format("{} nodes of {} GPUs, {}-D launch of {}", grid.nodes, grid.gpus,
                               domain.dimensions(), domain.volume()));
      compare(grid, domain, evaluator);
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(placed_, 1000);
  EXPECT_EQ(outside_ > 0, GetParam().formula == linear_block);
  const bool needs_3d = GetParam().formula == linearize_3d || GetParam().formula == linearize_2d;
  EXPECT_EQ(unreadable_ > 0, needs_3d);
}

INSTANTIATE_TEST_SUITE_P(Paper, ListingTest, ::testing::ValuesIn(kIndexMaps), [](const auto& each) {
  return fmt::format("{}_{}", each.param.file, each.param.function);
});

// `same_point` sends a single task to where its parent runs.
TEST(SinglePoint, IsTheParents) {
  for (const std::string_view file : kSingleMaps) {
    const Program program = listing(file);
    const FunctionId function = *program.find_function("same_point");
    for (const Grid& grid : grids()) {
      FunctionEvaluator evaluator(bound_to(program, grid));
      for (std::int64_t node = 0; node < grid.nodes; ++node) {
        for (std::int64_t index = 0; index < grid.gpus; ++index) {
          const Processor parent{ProcKind::kGpu, node, index};
          TaskPoint task;
          task.name = "task_5";
          task.parent_name = "main";
          task.processor = Processor{ProcKind::kGpu, 0, 0};
          task.parent = parent;
          Diagnostics diags(program.source());
          const auto placed = evaluator.place(function, task, ProcKind::kGpu, diags);
          ASSERT_TRUE(placed) << render(diags);
          ASSERT_EQ(placed->processors, std::vector<Processor>{parent});
        }
      }
    }
  }
}

// No mapping function of a listing stays unchecked.
TEST(Listings, AreAllCompared) {
  std::size_t functions = listing(kPrinted).function_count();
  for (const DslFile& file : all_files()) {
    // The benchmarks' are compared with whole mappers by hand, and cholesky's are not the paper's.
    if (find_benchmark(file.name) != nullptr || file.name.starts_with("cholesky")) continue;
    functions += listing(file.name).function_count();
  }
  EXPECT_EQ(functions, std::size(kIndexMaps) + std::size(kSingleMaps));
}

}  // namespace
}  // namespace groma
