// A mapping function as a sharding functor.
#pragma once

#include <string>
#include <utility>

#include "groma/sharding.h"
#include "mapper/function_maps.h"

namespace groma::mapper {

// Of the launches of tasks with that name. `cursors` must outlive it. A point at which the function
// fails goes to shard 0: whoever cuts the launch tells of the error. So does, as boxes, all of a
// launch that takes more than kMaxQuestionSteps.
class FunctionSharding final : public ShardingFunctor {
 public:
  FunctionSharding(const CursorPool* cursors, const Machine* machine, FunctionId function,
                   std::string task)
      : cursors_(cursors), machine_(machine), function_(function), task_(std::move(task)) {}
  ShardId shard(const Point& point, const Rect& domain, const ShardTable& shards) const override;
  // Boxes are given as they are found where the function cannot fail; else when all are known.
  void boxes_of(ShardId shard, const Rect& domain, const ShardTable& shards,
                const std::function<void(const Rect&)>& box) const override;

 private:
  const CursorPool* cursors_;
  const Machine* machine_;
  FunctionId function_;
  std::string task_;
};

}  // namespace groma::mapper
