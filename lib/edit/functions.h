// The mapping functions that mappings are given: texts of functions that deal the points of a
// launch out to the processors of a machine. docs/search_space.md lists the ones with fixed names.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "groma/kinds.h"

namespace groma::edit {

// A mapping function for any processor kind. In the body, `m` is the machine of the processors of
// the task's kind.
struct Function {
  std::string name;   // name without the processor kind
  std::string body;   // the lines after the one that defines `m`
  std::string words;  // what the function does, for people; empty if the name says it
};
// Returns the name that the function has when it is written for one processor kind.
std::string name_for(std::string_view name, ProcKind kind);
// Returns the text of a mapping function with this name and the lines of its body.
std::string definition(std::string_view name, std::string_view body);
// Returns the text of the function for one processor kind, under the name `as`, with its words as a
// comment.
std::string definition(const Function& function, ProcKind kind, std::string_view as);

// ---- Functions with fixed names, for launches of any size.

// Returns the names of the functions for index launches with this many dimensions (at least 1).
// Some functions number the points before they deal them out; their names begin with the numbering.
std::vector<std::string> index_functions(int dimensions);
// Returns the few of these functions that guide_run() tries: those that number the points by rows
// or columns, and `grid`, but not those that deal the numbers out by `cyclic1d`.
std::vector<std::string> common_index_functions(int dimensions);
// The only function for single tasks: the task runs where its parent runs.
inline constexpr std::string_view kSamePoint = "same_point";
// Returns the function that has this name in the lists above.
Function named_function(std::string_view name);

// ---- Functions for one machine and for launches of one size.

// A grid of processors over the points of a launch. Each dimension is cut by nodes, then by the
// processors of a node.
struct GridShape {
  // Sizes for each dimension. Their products are the machine's nodes and the processors of a node.
  std::vector<std::int64_t> nodes, processors;
  std::vector<bool> cyclic;  // by dimension: cyclic instead of in blocks
  bool interleaved = false;  // neighbouring points are on different nodes
};
Function grid_function(const GridShape& shape);

// Points numbered by a weighted sum of their coordinates and dealt to processors cyclically or in
// runs.
struct LineShape {
  std::vector<std::int64_t> weights;  // by dimension; 0: the coordinate is ignored
  bool nodes_first = false;           // successive runs go to different nodes
  std::int64_t run = 1;               // number of successive points on one processor
};
Function line_function(const LineShape& shape);

}  // namespace groma::edit
