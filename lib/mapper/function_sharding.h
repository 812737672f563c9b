// A mapping function as a sharding functor.
#pragma once

#include "groma/sharding.h"
#include "mapper/function_maps.h"

namespace groma::mapper {

// `maps` must outlive it.
class FunctionSharding final : public ShardingFunctor {
 public:
  FunctionSharding(FunctionMaps* maps, FunctionId function) : maps_(maps), function_(function) {}
  ShardId shard(const Point& point, const Rect& domain, ShardTable shards) const override;

 private:
  FunctionMaps* maps_;
  FunctionId function_;
};

}  // namespace groma::mapper
