// Mapping functions that place the points of an index launch, built from machine operations.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace groma::tuning {

struct PlacementFunction;

// A grid of processors over the points of a launch. Each dimension is cut by nodes, then by the
// processors of a node.
struct GridShape {
  // Sizes by dimension. Their products are the machine's nodes and the processors of a node.
  std::vector<std::int64_t> nodes, processors;
  std::vector<bool> cyclic;  // by dimension: cyclic instead of in blocks
  bool interleaved = false;  // neighbouring points are on different nodes
};
// Returns the mapping function of the grid.
PlacementFunction grid_function(const GridShape& shape);
// Returns the processor that the grid gives a point of a launch with these extents: node *
// processors per node + index in the node.
std::int64_t destination(const GridShape& shape, const std::vector<std::int64_t>& extents,
                         const std::vector<std::int64_t>& point);

// Points numbered by a weighted sum of their coordinates and dealt to processors cyclically or in
// runs.
struct LineShape {
  std::vector<std::int64_t> weights;  // by dimension; 0: the coordinate is ignored
  bool nodes_first = false;           // successive runs go to different nodes
  std::int64_t run = 1;               // number of successive points on one processor
};
// Returns the mapping function of the line.
PlacementFunction line_function(const LineShape& shape);
// Returns the processor that the line gives a point: node * processors + index in the node.
// `processors` is the number in each node.
std::int64_t destination(const LineShape& shape, std::int64_t nodes, std::int64_t processors,
                         const std::vector<std::int64_t>& point);

// Returns the ways to write n as a product of `dimensions` factors, in lexicographic order; at most
// `most` of them.
std::vector<std::vector<std::int64_t>> factorisations(std::int64_t n, int dimensions,
                                                      std::size_t most);

}  // namespace groma::tuning
