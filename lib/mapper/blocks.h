// How DefaultMapper cuts a launch into blocks.
#pragma once

#include <functional>

#include "groma/geometry.h"

namespace groma::mapper {

// Cuts `domain` into blocks for `count` processors: the number of blocks in each dimension by
// greedy_split, block b of n in a dimension of e points from e * b / n to e * (b + 1) / n. Empty
// blocks are left out, so at most volume() are made. `block` gets them with the first dimension
// fastest, as Legion's PointInRectIterator goes.
void cut_into_blocks(const Rect& domain, std::int64_t count,
                     const std::function<void(const Rect&)>& block);

}  // namespace groma::mapper
