// Writes the texts of mapping functions. Most functions combine a way to number the points of a
// launch and a way to deal out the numbers.
#include "edit/functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace groma::edit {
namespace {

// The ways to number the points of a launch. The name of a numbering ends with the launch's number
// of dimensions, except `first`, which applies to any number.
enum class Numbering : std::uint8_t { kFirst, kRow, kColumn, kSum, kWeighted };
constexpr std::array<std::string_view, 5> kNumberings = {"first", "row", "column", "sum",
                                                         "weighted"};

// Returns a term for use as a factor: a sum in parentheses, any other term unchanged.
std::string factor(const std::string& term) {
  return term.find('+') == std::string::npos ? term : fmt::format("({})", term);
}

// Returns the text of the expression that computes the number of a point.
std::string number_of_point(Numbering numbering, int dimensions) {
  std::string number = "ip[0]";
  switch (numbering) {
    case Numbering::kFirst:
      break;
    case Numbering::kRow:
      for (int d = 1; d < dimensions; ++d) {
        number = fmt::format("{} * is[{}] + ip[{}]", factor(number), d, d);
      }
      break;
    case Numbering::kColumn:
      number = fmt::format("ip[{}]", dimensions - 1);
      for (int d = dimensions - 2; d >= 0; --d) {
        number = fmt::format("ip[{}] + is[{}] * {}", d, d, factor(number));
      }
      break;
    case Numbering::kSum:
      for (int d = 1; d < dimensions; ++d) number += fmt::format(" + ip[{}]", d);
      break;
    case Numbering::kWeighted:
      number += " * 2 + ip[2]";
      break;
  }
  return number;
}

// A way to assign numbered points to processors: an expression for the processor of point number i
// on machine m, whose dimensions are nodes and the processors of a node.
struct PointAssignment {
  std::string_view name;
  std::string_view text;
  // True if guide_run() tries mapping functions that assign points in this way.
  bool common;
};
constexpr std::string_view kNodesFirst = "  return m[i % m.size[0], i / m.size[0] % m.size[1]];\n";
constexpr std::array<PointAssignment, 3> kDeals = {{
    {"cyclic", "  return m[i % m.size[0], i % m.size[1]];\n", true},
    {"cyclic1d", kNodesFirst, false},
    {"linearblock", "  return m[i / m.size[1], i % m.size[1]];\n", true},
}};
constexpr std::string_view kBlock = "block";
constexpr std::string_view kGrid = "grid";
constexpr std::string_view kRankBlock = "rank_block";
constexpr std::string_view kRankCyclic = "rank_cyclic";

// Returns true if the numbering uses the numbers 0, 1, 2, ... without gaps, up to a known count.
// Only such points can be cut into equal blocks.
bool is_dense(Numbering numbering) { return numbering <= Numbering::kColumn; }

// Returns the names of the mapping functions for launches with this many dimensions; with
// `common_only`, only those that guide_run() tries. Launches with holes also have those by rank.
std::vector<std::string> names_of(int dimensions, bool has_holes, bool common_only) {
  std::vector<std::string> names;
  if (has_holes) names = {std::string(kRankBlock), std::string(kRankCyclic)};
  for (std::size_t n = 0; n < kNumberings.size(); ++n) {
    const auto numbering = static_cast<Numbering>(n);
    // In a 1-D launch the numberings `row`, `column` and `sum` give the same numbers as `first`.
    if (numbering != Numbering::kFirst && dimensions < 2) continue;
    if (numbering == Numbering::kWeighted && dimensions < 3) continue;
    const bool common =
        dimensions == 1 || numbering == Numbering::kRow || numbering == Numbering::kColumn;
    if (common_only && !common) continue;
    const std::string how =
        numbering == Numbering::kFirst ? "first" : fmt::format("{}{}", kNumberings[n], dimensions);
    for (const PointAssignment& deal : kDeals) {
      if (deal.common || !common_only) names.push_back(fmt::format("{}_{}", how, deal.name));
    }
    // Equal blocks can only be formed from points that are numbered without gaps.
    if (is_dense(numbering)) names.push_back(fmt::format("{}_{}", how, kBlock));
  }
  if (dimensions >= 2) names.emplace_back(kGrid);
  return names;
}

// Returns the body of the mapping function with this name, which says how points are numbered and
// how the numbers are assigned to processors.
std::string body(std::string_view name) {
  if (name == kSamePoint) return "  return m[*task.parent.processor(m)];\n";
  if (name == kFirstProcessor) return "  return m[0, 0];\n";
  if (name == kGrid) {
    return "  grid = m.merge(0, 1).auto_split(0, task.ispace);\n"
           "  return grid[*(task.ipoint * grid.size / task.ispace)];\n";
  }
  if (name == kRankBlock || name == kRankCyclic) {
    return fmt::format("  p = task.irank {};\n  return m[p / m.size[1], p % m.size[1]];\n",
                       name == kRankBlock ? "* m.volume / task.ivolume" : "% m.volume");
  }
  // The name is NUMBERING_DEAL, such as "row2_cyclic". The digit is the number of dimensions.
  const std::size_t cut = name.find('_');
  std::string_view how = name.substr(0, cut);
  int dimensions = 1;
  if (std::isdigit(static_cast<unsigned char>(how.back())) != 0) {
    dimensions = how.back() - '0';
    how.remove_suffix(1);
  }
  std::size_t numbering = 0;
  while (kNumberings[numbering] != how) ++numbering;
  const auto way = static_cast<Numbering>(numbering);

  const std::string number = number_of_point(way, dimensions);
  std::string text = "  ip = task.ipoint;\n";
  if (number.find("is[") != std::string::npos) text += "  is = task.ispace;\n";
  text += fmt::format("  i = {};\n", number);
  const std::string_view deal = name.substr(cut + 1);
  // Equal blocks: point i of `count` goes to processor i * processors / count.
  if (deal == kBlock) {
    text += fmt::format("  p = i * m.volume / {};\n",
                        way == Numbering::kFirst ? "task.ispace[0]" : "task.ispace.volume");
    return text + "  return m[p / m.size[1], p % m.size[1]];\n";
  }
  for (const PointAssignment& each : kDeals) {
    if (each.name == deal) text += each.text;
  }
  return text;
}

// Returns the numbers with "x" between them, such as "2x3x4".
std::string joined(const std::vector<std::int64_t>& numbers) {
  std::string text;
  for (const std::int64_t number : numbers)
    text += (text.empty() ? "" : "x") + std::to_string(number);
  return text;
}

// Returns the text of an operation, such as "x / 4" or "x % 4". If the size is 1, returns the
// simplified result: x for `/`, and 0 for `%`.
std::string part(const std::string& what, char operation, std::int64_t size) {
  if (size == 1) return operation == '/' ? what : "0";
  return fmt::format("{} {} {}", what, operation, size);
}

// Returns the text of calls such as ".split(0, 2)" that split dimension `first` of a machine into
// dimensions of these sizes.
std::string splits(const std::vector<std::int64_t>& sizes, std::size_t first) {
  std::string text;
  for (std::size_t d = 0; d + 1 < sizes.size(); ++d) {
    text += fmt::format(".split({}, {})", first + d, sizes[d]);
  }
  return text;
}

}  // namespace

std::vector<std::string> index_functions(int dimensions, bool has_holes) {
  return names_of(dimensions, has_holes, false);
}

std::vector<std::string> common_index_functions(int dimensions, bool has_holes) {
  return names_of(dimensions, has_holes, true);
}

// Returns the name with the kind in lower case behind it, such as "block_gpu".
std::string function_name_for(std::string_view name, ProcKind kind) {
  std::string text(name);
  text += '_';
  for (char c : name_of(kind)) {
    text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return text;
}

std::string function_definition(std::string_view name, std::string_view body) {
  return fmt::format("def {}(Task task) {{\n{}}}\n", name, body);
}

std::string function_definition(const MappingFunction& function, ProcKind kind,
                                std::string_view as) {
  const std::string comment =
      function.description.empty() ? "" : fmt::format("# {}\n", function.description);
  return comment + function_definition(
                       as, fmt::format("  m = Machine({});\n{}", name_of(kind), function.body));
}

MappingFunction named_function(std::string_view name) {
  return {std::string(name), body(name), {}};
}

MappingFunction first_node_function(int dimensions) {
  const std::string number = number_of_point(Numbering::kRow, dimensions);
  return {fmt::format("on_first_node{}", dimensions),
          fmt::format("  ip = task.ipoint;\n{}  i = {};\n  return m[0, i % m.size[1]];\n",
                      dimensions > 1 ? "  is = task.ispace;\n" : "", number),
          {}};
}

// Returns the function that puts the grid of processors over the points. Each coordinate is reduced
// to an index on the grid, which is then divided into a node index and a processor index.
MappingFunction grid_function(const GridShape& shape) {
  const std::size_t dimensions = shape.nodes.size();
  std::string how, body = "  ip = task.ipoint;\n";
  // The function needs the extents of the launch only if some dimension is cut into blocks.
  const bool blocks =
      std::find(shape.cyclic.begin(), shape.cyclic.end(), false) != shape.cyclic.end();
  if (blocks) body += "  is = task.ispace;\n";
  std::string outer, inner;
  for (std::size_t d = 0; d < dimensions; ++d) {
    how += shape.cyclic[d] ? 'c' : 'b';
    // In a dimension that the grid does not cut, the only index on the grid is 0.
    const std::int64_t nodes = shape.nodes[d], processors = shape.processors[d];
    const std::int64_t all = nodes * processors;
    // The variables p0, p1, ... of the function are the indices of a point's place on the grid,
    // computed by blocks or cyclically.
    const std::string at = fmt::format("p{}", d);
    if (all > 1) {
      body += shape.cyclic[d] ? fmt::format("  {} = ip[{}] % {};\n", at, d, all)
                              : fmt::format("  {} = ip[{}] * {} / is[{}];\n", at, d, all, d);
    }
    const std::string before = d == 0 ? "" : ", ";
    // An interleaved grid takes the index of the node from the remainder of p0, p1, ..., so
    // neighbouring points are on different nodes.
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
  // The comment above the function says which dimensions are cyclic.
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

// Returns the function that numbers points by a weighted sum. The sum, divided by the run length,
// is the number that is dealt out to processors.
MappingFunction weighted_sum_function(const WeightedNumbering& shape) {
  std::string sum, name = "line";
  // The name contains all weights, so that equal names mean equal functions.
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
    return {name + "_n", body.append(kNodesFirst), words};
  }
  return {name, body + "  return m[i / m.size[1] % m.size[0], i % m.size[1]];\n", words};
}

}  // namespace groma::edit
