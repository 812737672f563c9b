// Machine views of the expert mappings, by hand: a grid of ranks or nodes that fits a launch.
#pragma once

#include <cstdint>
#include <optional>

#include "groma/geometry.h"
#include "groma/machine.h"

namespace groma::examples {

// m.auto_split(d, space): the factorisation of n with the smallest sum of factor / extent.
Point auto_split(std::int64_t n, const Point& space);
// The block of each dimension in which `ip` lies, of `grid` blocks.
Point block_of(const Point& ip, const Point& space, const Point& grid);
// Where `at` is in a grid whose first dimension runs fastest.
std::int64_t linear_of(const Point& at, const Point& grid);

// GPU `i` of all, node by node; taken modulo their number.
std::optional<Processor> rank(const Machine& machine, std::int64_t i);
// IndexTaskMap init_cublas linear.
std::optional<Processor> linear_gpu(const Machine& machine, const Point& ip, const Point& space);
// Blocks over all GPUs.
std::optional<Processor> block_gpu(const Machine& machine, const Point& ip, const Point& space);
// Blocks over nodes, round the GPUs of each; of a launch of as many dimensions.
std::optional<Processor> hierarchical_gpu(const Machine& machine, const Point& ip,
                                          const Point& space);

}  // namespace groma::examples
