// The texts of mapping functions. A function combines a way to number the points of a launch and a
// way to deal out the numbers.
#include "edit/index_functions.h"

#include <fmt/format.h>

#include <array>
#include <cctype>

namespace groma::inspect {
namespace {

// How a point is numbered. A name ends with the launch's number of dimensions, except `first`,
// which applies to any number.
enum class Numbering : std::uint8_t { kFirst, kRow, kColumn, kSum, kWeighted };
constexpr std::array<std::string_view, 5> kNumberings = {"first", "row", "column", "sum",
                                                         "weighted"};

// Returns a sum in parentheses, any other term unchanged.
std::string factor(const std::string& term) {
  return term.find('+') == std::string::npos ? term : fmt::format("({})", term);
}

// Returns the expression for the number of a point.
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

// How number i is dealt to the machine m, a grid of nodes by processors of a node.
struct Deal {
  std::string_view name;
  std::string_view text;
  bool common;  // guide_run() tries it
};
constexpr std::array<Deal, 3> kDeals = {{
    {"cyclic", "  return m[i % m.size[0], i % m.size[1]];\n", true},
    {"cyclic1d", "  return m[i % m.size[0], i / m.size[0] % m.size[1]];\n", false},
    {"linearblock", "  return m[i / m.size[1], i % m.size[1]];\n", true},
}};
constexpr std::string_view kBlock = "block";
constexpr std::string_view kGrid = "grid";

// Returns true if the numbers are 0, 1, 2, ... below a known count, which equal blocks require.
bool is_dense(Numbering numbering) { return numbering <= Numbering::kColumn; }

// Returns the names of the functions; with `common_only`, only those that guide_run() tries.
std::vector<std::string> names_of(int dimensions, bool common_only) {
  std::vector<std::string> names;
  for (std::size_t n = 0; n < kNumberings.size(); ++n) {
    const auto numbering = static_cast<Numbering>(n);
    // In one dimension all numberings are the same.
    if (numbering != Numbering::kFirst && dimensions < 2) continue;
    if (numbering == Numbering::kWeighted && dimensions < 3) continue;
    const bool common =
        dimensions == 1 || numbering == Numbering::kRow || numbering == Numbering::kColumn;
    if (common_only && !common) continue;
    const std::string how =
        numbering == Numbering::kFirst ? "first" : fmt::format("{}{}", kNumberings[n], dimensions);
    for (const Deal& deal : kDeals) {
      if (deal.common || !common_only) names.push_back(fmt::format("{}_{}", how, deal.name));
    }
    if (is_dense(numbering)) names.push_back(fmt::format("{}_{}", how, kBlock));
  }
  if (dimensions >= 2) names.emplace_back(kGrid);
  return names;
}

std::string body(std::string_view name) {
  if (name == kSamePoint) return "  return m[*task.parent.processor(m)];\n";
  if (name == kGrid) {
    return "  grid = m.merge(0, 1).auto_split(0, task.ispace);\n"
           "  return grid[*task.ipoint * grid.size / task.ispace];\n";
  }
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
  if (deal == kBlock) {
    text += fmt::format("  p = i * m.volume / {};\n",
                        way == Numbering::kFirst ? "task.ispace[0]" : "task.ispace.volume");
    return text + "  return m[p / m.size[1], p % m.size[1]];\n";
  }
  for (const Deal& each : kDeals) {
    if (each.name == deal) text += each.text;
  }
  return text;
}

}  // namespace

std::vector<std::string> index_functions(int dimensions) { return names_of(dimensions, false); }

std::vector<std::string> common_index_functions(int dimensions) {
  return names_of(dimensions, true);
}

std::string name_for(std::string_view name, ProcKind kind) {
  std::string text(name);
  text += '_';
  for (char c : name_of(kind)) {
    text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return text;
}

std::string definition(std::string_view name, ProcKind kind) {
  return definition(name, kind, name_for(name, kind));
}

std::string definition(std::string_view name, ProcKind kind, std::string_view as) {
  return fmt::format("def {}(Task task) {{\n  m = Machine({});\n{}}}\n", as, name_of(kind),
                     body(name));
}

}  // namespace groma::inspect
