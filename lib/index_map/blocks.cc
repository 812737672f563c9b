// Cuts a domain into blocks as Legion does (default_select_num_blocks, default_decompose_points).
#include "index_map/blocks.h"

#include <algorithm>
#include <vector>

#include "evaluate/splits.h"

namespace groma::mapper {
namespace {

__extension__ typedef __int128 Wide;

// Returns the index at which block number `block` of `blocks` begins in a dimension of this extent.
// The product is computed in 128 bits.
std::int64_t boundary(std::int64_t extent, std::int64_t block, std::int64_t blocks) {
  return static_cast<std::int64_t>(static_cast<Wide>(extent) * block / blocks);
}

// Moves `at` to the next block, with the first dimension changing fastest. Returns false after the
// last block.
bool next_block(const std::vector<std::int64_t>& blocks, Point* at) {
  for (int d = 0; d < at->dimensions(); ++d) {
    if (++(*at)[d] < blocks[static_cast<std::size_t>(d)]) return true;
    (*at)[d] = 0;
  }
  return false;
}

}  // namespace

// Calls block(box) for at most `count` blocks of the domain. A dimension has at most as many blocks
// as points.
void cut_into_blocks(const Rect& domain, std::int64_t count,
                     const std::function<void(const Rect&)>& block) {
  if (domain.volume() == 0) return;
  std::vector<std::int64_t> blocks = greedy_split(count, domain.extents.coordinates());
  for (int d = 0; d < domain.dimensions(); ++d) {  // No dimension has more blocks than points.
    auto& n = blocks[static_cast<std::size_t>(d)];
    n = std::min(n, domain.extents[d]);
  }
  Point at = Point::zeros(domain.dimensions());
  do {
    Rect box = domain;
    for (int d = 0; d < domain.dimensions(); ++d) {
      const std::int64_t n = blocks[static_cast<std::size_t>(d)];
      const std::int64_t from = boundary(domain.extents[d], at[d], n);
      box.lower[d] = domain.lower[d] + from;
      box.extents[d] = boundary(domain.extents[d], at[d] + 1, n) - from;
    }
    block(box);
  } while (next_block(blocks, &at));
}

}  // namespace groma::mapper
