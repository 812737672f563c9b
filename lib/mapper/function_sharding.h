// FunctionSharding: uses a mapping function as a sharding functor.
#pragma once

#include <string>
#include <utility>

#include "groma/sharding.h"
#include "mapper/function_maps.h"

namespace groma::mapper {

// The functor for launches of the tasks with that name. `cursors` must outlive it. A point at which
// the function fails goes to shard 0, since slice_task reports the error. In boxes_of(), all of a
// launch that takes more than kMaxQuestionSteps goes to shard 0 too.
class FunctionSharding final : public ShardingFunctor {
 public:
  FunctionSharding(const CursorPool* cursors, const Machine* machine, FunctionId function,
                   std::string task)
      : cursors_(cursors), machine_(machine), function_(function), task_(std::move(task)) {}
  ShardId shard(const Point& point, const Rect& domain, const ShardTable& shards) const override;
  // If the function cannot fail, boxes are given as they are found. Otherwise they are given when
  // all are known.
  void boxes_of(ShardId shard, const Rect& domain, const ShardTable& shards,
                const std::function<void(const Rect&)>& box) const override;

 private:
  const CursorPool* cursors_;
  const Machine* machine_;
  FunctionId function_;
  std::string task_;
};

}  // namespace groma::mapper
