// Mapping functions: grids and lines send every point where their shape says.
#include "edit/functions.h"

#include <gmock/gmock.h>

#include <cstdint>
#include <map>
#include <vector>

#include "groma/inspect.h"

namespace groma::edit {
namespace {

// Where the function sends the points of a launch, by node and processor.
std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> loads_of(
    const MappingFunction& function, const Machine& machine, const Point& extents) {
  Diagnostics diags(Source("f.mapper", "def f(Task task) {\n  m = Machine(GPU);\n" + function.body +
                                           "}\nIndexTaskMap work f;\n"));
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> loads;
  const auto bound = check(diags.source(), &machine, diags);
  EXPECT_TRUE(bound.has_value()) << render(diags);
  if (!bound) return loads;
  PlaceQuery query;
  query.function = "f";
  query.domain = *Rect::make(extents);
  query.from = ProcKind::kGpu;
  const auto placed = place(*bound, query, diags);
  EXPECT_TRUE(placed.has_value()) << render(diags) << function.body;
  if (!placed) return loads;
  for (const Processor& processor : placed->points) ++loads[{processor.node, processor.index}];
  return loads;
}

TEST(Grids, UseEveryProcessorAlike) {
  using Sizes = std::vector<std::int64_t>;
  const Machine machine = make_machine("nodes=4,gpu=6").value();
  for (const Sizes& nodes : {Sizes{1, 4}, Sizes{2, 2}, Sizes{4, 1}}) {
    for (const Sizes& processors : {Sizes{1, 6}, Sizes{2, 3}, Sizes{3, 2}, Sizes{6, 1}}) {
      for (int mode = 0; mode < 8; ++mode) {
        const GridShape shape{
            nodes, processors, {(mode & 1) != 0, (mode & 2) != 0}, (mode & 4) != 0};
        const auto loads = loads_of(grid_function(shape), machine, {12 * 4, 12 * 2});
        ASSERT_EQ(loads.size(), 24U) << grid_function(shape).body;
        for (const auto& [processor, load] : loads) EXPECT_EQ(load, 48 * 24 / 24);
      }
    }
  }
}

// What a grid and a line are meant to do, by plain arithmetic: node * processors per node + index
// in the node. The first part of a split varies fastest.
std::int64_t destination(const GridShape& shape, const std::vector<std::int64_t>& extents,
                         const std::vector<std::int64_t>& point) {
  std::int64_t node = 0, processor = 0, node_stride = 1, processor_stride = 1;
  for (std::size_t d = 0; d < point.size(); ++d) {
    const std::int64_t nodes = shape.nodes[d], processors = shape.processors[d];
    const std::int64_t all = nodes * processors;
    const std::int64_t at = shape.cyclic[d] ? point[d] % all : point[d] * all / extents[d];
    node += (shape.interleaved ? at % nodes : at / processors) * node_stride;
    processor += (shape.interleaved ? at / nodes : at % processors) * processor_stride;
    node_stride *= nodes;
    processor_stride *= processors;
  }
  return node * processor_stride + processor;
}

std::int64_t destination(const WeightedNumbering& shape, std::int64_t nodes,
                         std::int64_t processors, const std::vector<std::int64_t>& point) {
  std::int64_t i = 0;
  for (std::size_t d = 0; d < point.size(); ++d) i += point[d] * shape.weights[d];
  i /= shape.run;
  return shape.nodes_first ? i % nodes * processors + i / nodes % processors
                           : i / processors % nodes * processors + i % processors;
}

TEST(GridsAndLines, SendPointsWhereTheirShapesSay) {
  const Machine machine = make_machine("nodes=4,gpu=6").value();
  const auto expect = [&](const MappingFunction& function, const auto& destination_of) {
    std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> expected;
    for (std::int64_t x = 0; x < 9; ++x) {
      for (std::int64_t y = 0; y < 7; ++y) {
        const std::int64_t at = destination_of({x, y});
        ++expected[{at / 6, at % 6}];
      }
    }
    EXPECT_EQ(loads_of(function, machine, {9, 7}), expected) << function.body;
  };
  for (int mode = 0; mode < 8; ++mode) {
    const GridShape shape{{2, 2}, {1, 6}, {(mode & 1) != 0, (mode & 2) != 0}, (mode & 4) != 0};
    expect(grid_function(shape), [&](const std::vector<std::int64_t>& point) {
      return destination(shape, {9, 7}, point);
    });
  }
  for (const WeightedNumbering& shape : {WeightedNumbering{{1, 9}}, WeightedNumbering{{2, 0}, true},
                                         WeightedNumbering{{7, 1}, false, 3}}) {
    expect(weighted_sum_function(shape),
           [&](const std::vector<std::int64_t>& point) { return destination(shape, 4, 6, point); });
  }
}

TEST(Lines, GoRound) {
  const Machine machine = make_machine("nodes=2,gpu=4").value();
  const auto at = [&](const WeightedNumbering& shape, std::int64_t count) {
    return loads_of(weighted_sum_function(shape), machine, {count});
  };
  EXPECT_EQ(at({{1}}, 8).size(), 8U);
  EXPECT_EQ(at({{1}}, 4).size(), 4U);
  EXPECT_EQ(at({{1}}, 4).begin()->first.first, 0);
  EXPECT_EQ(at({{1}, true}, 2).rbegin()->first.first, 1);
  EXPECT_EQ(at({{1}, false, 4}, 8).size(), 2U);
}

}  // namespace
}  // namespace groma::edit
