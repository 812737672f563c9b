// Cuts a launch into blocks as DefaultMapper does. cut_into_blocks is the only entry point.
#pragma once

#include <functional>

#include "groma/geometry.h"

namespace groma::mapper {

// Cuts `domain` into blocks for `count` processors. greedy_split gives the number of blocks in each
// dimension. In a dimension of e points with n blocks, block b goes from e * b / n to e * (b + 1) /
// n. Empty blocks are left out, so there are at most volume() blocks. `block` receives them with
// the first dimension fastest, in the order of Legion's PointInRectIterator.
void cut_into_blocks(const Rect& domain, std::int64_t count,
                     const std::function<void(const Rect&)>& block);

}  // namespace groma::mapper
