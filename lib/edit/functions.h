// Texts of mapping functions, which the library adds to mappings. A mapping function assigns the
// points of a launch to the processors of a machine. docs/search_space.md lists the functions with
// fixed names.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "groma/kinds.h"

namespace groma::edit {

// A mapping function for any processor kind. In the body, `m` is the machine of the processors of
// the task's kind.
struct MappingFunction {
  // The name without the processor kind.
  std::string name;
  // The lines of the function's body after the one that defines `m`.
  std::string body;
  // A sentence for people that says what the function does. Empty if the name of the function says
  // it.
  std::string description;
};
// Returns the name that the function has when it is written for one processor kind.
std::string function_name_for(std::string_view name, ProcKind kind);
// Returns the text of a mapping function with this name and the lines of its body.
std::string function_definition(std::string_view name, std::string_view body);
// Returns the definition of the function for one processor kind, with `as` as its name. The
// function's description, if any, is written above it as a comment.
std::string function_definition(const MappingFunction& function, ProcKind kind,
                                std::string_view as);

// ---- Functions with fixed names, for launches of any size.

// Returns the names of the functions for index launches with this many dimensions (at least 1).
// Some functions number the points before they deal them out; their names begin with the numbering.
// If a launch does not have every point of its box (`has_holes`), the first two functions deal out
// the ranks of the points: in equal blocks (rank_block), or in turn (rank_cyclic).
std::vector<std::string> index_functions(int dimensions, bool has_holes = false);
// Returns the few index functions that guide_run() tries: those that number the points by rows or
// columns, and `grid`, but not those that assign the numbers by `cyclic1d`.
std::vector<std::string> common_index_functions(int dimensions, bool has_holes = false);
// The function of the search space for single tasks: the task runs where its parent runs.
inline constexpr std::string_view kSamePoint = "same_point";
// A function for single tasks and for index launches: everything runs on the first processor of the
// first node.
inline constexpr std::string_view kFirstProcessor = "first_processor";
// Returns the mapping function with this name: one that index_functions() lists, kSamePoint or
// kFirstProcessor.
MappingFunction named_function(std::string_view name);
// Returns the function `on_first_node2` (for 2 dimensions), which deals out the points of a launch
// with this many dimensions to the processors of the first node.
MappingFunction first_node_function(int dimensions);

// ---- Functions for one machine and for launches of one size.

// A grid of processors over the points of a launch. Each dimension is cut by nodes, then by the
// processors of a node.
struct GridShape {
  // The numbers of nodes, and of processors of each node, along each dimension of the grid. The
  // product of `nodes` is the machine's number of nodes; the product of `processors` is the number
  // of processors of one node.
  std::vector<std::int64_t> nodes, processors;
  // True for each dimension whose points are dealt cyclically to the processors, false for each one
  // that is cut into blocks.
  std::vector<bool> cyclic;
  // True if neighbouring points are on different nodes.
  bool interleaved = false;
};
// Returns the mapping function that cuts a launch by the grid. The vectors of `shape` have one
// entry for each dimension of the launch.
MappingFunction grid_function(const GridShape& shape);

// Points numbered by a weighted sum of their coordinates and dealt to processors cyclically or in
// runs.
struct WeightedNumbering {
  // The weight of each coordinate. A coordinate with weight 0 is ignored.
  std::vector<std::int64_t> weights;
  // True if successive runs go to different nodes.
  bool nodes_first = false;
  // The number of successive points on one processor.
  std::int64_t run = 1;
};
// Returns the mapping function that numbers the points by these weights and assigns them to
// processors.
MappingFunction weighted_sum_function(const WeightedNumbering& shape);

}  // namespace groma::edit
