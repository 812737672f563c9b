// A mapping function as a sharding functor.
#pragma once

#include "groma/sharding.h"
#include "mapper/function_maps.h"

namespace groma::mapper {

// `maps` must outlive it. A point at which the function fails goes to shard 0: whoever cuts the
// launch tells of the error.
class FunctionSharding final : public ShardingFunctor {
 public:
  FunctionSharding(const FunctionMaps* maps, FunctionId function)
      : maps_(maps), function_(function) {}
  ShardId shard(const Point& point, const Rect& domain, ShardTable shards) const override;
  void boxes_of(ShardId shard, const Rect& domain, ShardTable shards,
                const std::function<void(const Rect&)>& box) const override;

 private:
  const FunctionMaps* maps_;
  FunctionId function_;
};

}  // namespace groma::mapper
