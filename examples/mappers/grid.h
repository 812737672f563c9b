// The machine views of the expert mappings, written by hand: grids of processors or nodes that fit
// a launch.
#pragma once

#include <cstdint>
#include <optional>

#include "groma/geometry.h"
#include "groma/machine.h"

namespace groma::examples {

// Returns the factorisation of n with the smallest sum of factor / extent, as the machine view
// method auto_split(d, space) of the language does. The result has a factor for each dimension of
// `space`.
Point auto_split(std::int64_t n, const Point& space);
// Returns, for each dimension, which of the `grid` blocks contains `ip`.
Point block_of(const Point& ip, const Point& space, const Point& grid);
// Returns the number of `at` in a grid whose first dimension varies fastest.
std::int64_t linear_of(const Point& at, const Point& grid);

// Returns GPU `i` of the machine, counted node by node. `i` is taken modulo the number of GPUs.
std::optional<Processor> rank(const Machine& machine, std::int64_t i);
// Places point i on GPU i of the machine. This is the mapping function of `IndexTaskMap init_cublas
// linear`.
std::optional<Processor> linear_gpu(const Machine& machine, const Point& ip, const Point& space);
// Places blocks of points on the GPUs of the machine.
std::optional<Processor> block_gpu(const Machine& machine, const Point& ip, const Point& space);
// Places blocks of points on the nodes, and the points of a block cyclically on the node's GPUs.
std::optional<Processor> hierarchical_gpu(const Machine& machine, const Point& ip,
                                          const Point& space);

}  // namespace groma::examples
