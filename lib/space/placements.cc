// Mapping functions that place the points of an index launch, written from machine operations.
#include "space/placements.h"

#include <fmt/format.h>

#include <algorithm>

#include "space/draft.h"

namespace groma::tuning {
namespace {

// Returns "2x3x4".
std::string joined(const std::vector<std::int64_t>& numbers) {
  std::string text;
  for (const std::int64_t number : numbers)
    text += (text.empty() ? "" : "x") + std::to_string(number);
  return text;
}

// Returns "x / 4". If the size is 1, returns the simplified result: x or 0.
std::string part(const std::string& what, char operation, std::int64_t size) {
  if (size == 1) return operation == '/' ? what : "0";
  return fmt::format("{} {} {}", what, operation, size);
}

// Returns the operations that split dimension `first` of a machine into these sizes.
std::string splits(const std::vector<std::int64_t>& sizes, std::size_t first) {
  std::string text;
  for (std::size_t d = 0; d + 1 < sizes.size(); ++d) {
    text += fmt::format(".split({}, {})", first + d, sizes[d]);
  }
  return text;
}

}  // namespace

// Each coordinate is reduced to an index on the grid, which is then divided into a node index and a
// processor index.
PlacementFunction grid_function(const GridShape& shape) {
  const std::size_t dimensions = shape.nodes.size();
  std::string how, body = "  ip = task.ipoint;\n";
  const bool blocks =
      std::find(shape.cyclic.begin(), shape.cyclic.end(), false) != shape.cyclic.end();
  if (blocks) body += "  is = task.ispace;\n";
  std::string outer, inner;
  for (std::size_t d = 0; d < dimensions; ++d) {
    how += shape.cyclic[d] ? 'c' : 'b';
    const std::int64_t nodes = shape.nodes[d], processors = shape.processors[d];
    const std::int64_t all = nodes * processors;
    const std::string at = fmt::format("p{}", d);
    if (all > 1) {
      body += shape.cyclic[d] ? fmt::format("  {} = ip[{}] % {};\n", at, d, all)
                              : fmt::format("  {} = ip[{}] * {} / is[{}];\n", at, d, all, d);
    }
    const std::string before = d == 0 ? "" : ", ";
    const std::string node = all == 1 || nodes == 1 ? "0"
                             : shape.interleaved    ? part(at, '%', nodes)
                                                    : part(at, '/', processors);
    const std::string processor = all == 1 || processors == 1 ? "0"
                                  : shape.interleaved         ? part(at, '/', nodes)
                                                              : part(at, '%', processors);
    outer += before + node;
    inner += before + processor;
  }
  body += fmt::format("  grid = m{}{};\n", splits(shape.nodes, 0),
                      splits(shape.processors, dimensions));
  body += fmt::format("  return grid[{}, {}];\n", outer, inner);
  const auto turns = std::count(shape.cyclic.begin(), shape.cyclic.end(), true);
  const char* const points = turns == 0                          ? "in blocks"
                             : turns == std::ssize(shape.cyclic) ? "in turn"
                                                                 : "in blocks and in turn";
  return {fmt::format("grid_{}_of_{}_{}{}", joined(shape.nodes), joined(shape.processors), how,
                      shape.interleaved ? "i" : ""),
          body,
          fmt::format("A grid of {} nodes, each of {} processors, over the points {}{}.",
                      joined(shape.nodes), joined(shape.processors), points,
                      shape.interleaved ? ", neighbours on different nodes" : "")};
}

// The weighted sum, divided by the run length, is the number that is dealt to processors.
PlacementFunction line_function(const LineShape& shape) {
  std::string sum, name = "line";
  for (std::size_t d = 0; d < shape.weights.size(); ++d) {
    const std::int64_t weight = shape.weights[d];
    name += fmt::format("_{}", weight);
    if (weight == 0) continue;
    if (!sum.empty()) sum += " + ";
    sum += weight == 1 ? fmt::format("ip[{}]", d) : fmt::format("ip[{}] * {}", d, weight);
  }
  if (sum.empty()) sum = "0";
  std::string body = "  ip = task.ipoint;\n";
  body += shape.run == 1 ? fmt::format("  i = {};\n", sum)
                         : fmt::format("  i = ({}) / {};\n", sum, shape.run);
  if (shape.run > 1) name += fmt::format("_by{}", shape.run);
  const std::string words =
      fmt::format("Points in the order of {}, {} to one processor, then the next{}.", sum,
                  shape.run, shape.nodes_first ? " node's" : "");
  if (shape.nodes_first) {
    return {name + "_n", body + "  return m[i % m.size[0], i / m.size[0] % m.size[1]];\n", words};
  }
  return {name, body + "  return m[i / m.size[1] % m.size[0], i % m.size[1]];\n", words};
}

std::int64_t destination(const GridShape& shape, const std::vector<std::int64_t>& extents,
                         const std::vector<std::int64_t>& point) {
  // The first part of a split varies fastest.
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

std::int64_t destination(const LineShape& shape, std::int64_t nodes, std::int64_t processors,
                         const std::vector<std::int64_t>& point) {
  std::int64_t i = 0;
  for (std::size_t d = 0; d < point.size(); ++d) i += point[d] * shape.weights[d];
  i /= shape.run;
  return shape.nodes_first ? i % nodes * processors + i / nodes % processors
                           : i / processors % nodes * processors + i % processors;
}

// Chooses the first factor, then factorises the rest recursively.
std::vector<std::vector<std::int64_t>> factorisations(std::int64_t n, int dimensions,
                                                      std::size_t most) {
  std::vector<std::vector<std::int64_t>> all;
  if (dimensions <= 1) return {{n}};
  for (std::int64_t first = 1; first <= n && all.size() < most; ++first) {
    if (n % first != 0) continue;
    for (auto& rest : factorisations(n / first, dimensions - 1, most - all.size())) {
      rest.insert(rest.begin(), first);
      all.push_back(std::move(rest));
    }
  }
  return all;
}

}  // namespace groma::tuning
