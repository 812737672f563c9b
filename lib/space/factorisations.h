// Ways to write a number as a product, from which grids of processors are made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace groma::tuning {

// Returns the ways to write n as a product of `dimensions` factors, in lexicographic order: {1, 4},
// {2, 2}, {4, 1} for 4 and two dimensions. Returns at most `most` of them.
std::vector<std::vector<std::int64_t>> factorisations(std::int64_t n, int dimensions,
                                                      std::size_t most);

}  // namespace groma::tuning
