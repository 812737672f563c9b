// Functions that place the points of an index launch, made of machine operations.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace groma::tuning {

struct PlacementFunction;

// A grid of processors laid over the points: each dimension is cut for the nodes, then for the
// processors of a node.
struct GridShape {
  std::vector<std::int64_t> nodes, processors;  // by dimension; their products are the machine's
  std::vector<bool> cyclic;                     // points in turn, not in blocks
  bool interleaved = false;                     // neighbours on different nodes
};
PlacementFunction grid_function(const GridShape& shape);
// The processor that it sends a point of a launch with these extents to: its node times the
// processors of a node, and its index there.
std::int64_t destination(const GridShape& shape, const std::vector<std::int64_t>& extents,
                         const std::vector<std::int64_t>& point);

// Points numbered by a weighted sum of their coordinates, dealt out in turn or in blocks.
struct LineShape {
  std::vector<std::int64_t> weights;  // by dimension; 0: it does not count
  bool nodes_first = false;           // one after the other to different nodes
  std::int64_t run = 1;               // so many go to one processor before the next
};
PlacementFunction line_function(const LineShape& shape);
std::int64_t destination(const LineShape& shape, std::int64_t nodes, std::int64_t processors,
                         const std::vector<std::int64_t>& point);

// Every way to write n as a product of `dimensions` factors, in lexicographic order, at most
// `most`.
std::vector<std::vector<std::int64_t>> factorisations(std::int64_t n, int dimensions,
                                                      std::size_t most);

}  // namespace groma::tuning
