// Shards: whose is what runs on a processor, and the cyclic functor.
#include "groma/sharding.h"

#include <algorithm>

#include "groma/result.h"

namespace groma {

ShardId shard_of(const Processor& processor, ShardTable shards) {
  GROMA_CHECK(!shards.empty());
  std::size_t on_node = 0;
  for (std::size_t s = 0; s < shards.size(); ++s) {
    if (shards[s] == processor) return static_cast<ShardId>(s);
    if (shards[s].node == processor.node) ++on_node;
  }
  if (on_node == 0) {
    return static_cast<ShardId>(static_cast<std::size_t>(processor.node) % shards.size());
  }
  std::size_t wanted = static_cast<std::size_t>(processor.index) % on_node;
  for (std::size_t s = 0; s < shards.size(); ++s) {
    if (shards[s].node == processor.node && wanted-- == 0) return static_cast<ShardId>(s);
  }
  return 0;  // not reached: on_node counted them
}

void ShardingFunctor::boxes_of(ShardId shard_id, const Rect& domain, ShardTable shards,
                               const std::function<void(const Rect&)>& box) const {
  if (domain.volume() == 0) return;
  Point one = Point::zeros(domain.dimensions());
  for (int d = 0; d < one.dimensions(); ++d) one[d] = 1;
  Point point = domain.lower;
  do {
    if (shard(point, domain, shards) == shard_id) box(Rect{point, one});
  } while (next_point(domain, &point));
}

ShardId CyclicSharding::shard(const Point& point, const Rect& domain, ShardTable shards) const {
  const auto count = static_cast<std::int64_t>(shards.size());
  std::int64_t shard = 0;
  for (int d = domain.dimensions() - 1; d >= 0; --d) {  // modulo the shards throughout
    const std::int64_t extent = domain.extents[d] % count;
    shard = (shard * extent + (point[d] - domain.lower[d]) % count) % count;
  }
  return static_cast<ShardId>(shard);
}

}  // namespace groma
