#include "mapper/function_sharding.h"

#include <algorithm>

namespace groma::mapper {

// A functor knows no task, so a function that reads its name sees none here.
ShardId FunctionSharding::shard(const Point& point, const Rect& domain, ShardTable shards) const {
  LaunchCursor cursor(maps_);
  std::vector<Processor> processors;
  if (cursor.place({function_, "", domain, std::nullopt}, point, processors)) return 0;
  return shard_of(processors.front(), shards);
}

// By the runs of the map, so that not every point is asked for; a launch that fails somewhere is
// asked point by point, as shard() is.
void FunctionSharding::boxes_of(ShardId shard, const Rect& domain, ShardTable shards,
                                const std::function<void(const Rect&)>& box) const {
  LaunchCursor cursor(maps_);
  std::vector<Rect> mine;
  const auto failure = cursor.slices({function_, "", domain, std::nullopt}, domain,
                                     [&](const Rect& slice, const Processor& processor) {
                                       if (shard_of(processor, shards) == shard) {
                                         mine.push_back(slice);
                                       }
                                     });
  if (failure) return ShardingFunctor::boxes_of(shard, domain, shards, box);
  std::for_each(mine.begin(), mine.end(), box);
}

}  // namespace groma::mapper
