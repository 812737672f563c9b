// FunctionSharding: uses a mapping function as a sharding functor. FunctionShardingFunctors: the
// functors of all functions of a program.
#pragma once

#include <deque>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "groma/evaluate.h"
#include "groma/sharding.h"
#include "mapper/function_maps.h"

namespace groma::mapper {

// The sharding functor for launches of the tasks with that name, by a mapping function. `cursors`
// must outlive it. A point at which the function fails goes to shard 0, since slice_task reports
// the error. If boxes_of() would take more than kMaxQuestionSteps steps, it gives the whole launch
// to shard 0.
class FunctionSharding final : public ShardingFunctor {
 public:
  FunctionSharding(const CursorPool* cursors, const BoundProgram& bound, FunctionId function,
                   std::string task);
  ShardId shard(const Point& point, const LaunchDomain& domain,
                const ShardTable& shards) const override;
  // Passes on the boxes of points that the shard owns. If the function cannot fail, each box is
  // passed on as soon as it is found, otherwise when all are known.
  void boxes_of(ShardId shard, const LaunchDomain& domain, const ShardTable& shards,
                const std::function<void(const Rect&)>& box) const override;

 private:
  LaunchToPlace launch_over(const LaunchDomain& domain) const;

  const CursorPool* cursors_;
  const Machine* machine_;
  FunctionId function_;
  bool reads_rank_;
  std::string task_;
};

// The sharding functors of a program. Function f has the functor with id f + 1. A function that
// reads its task's name also has a functor for each name that the program contains. A function can
// only compare names, so all other names count as no name.
class FunctionShardingFunctors {
 public:
  // Both arguments must outlive the functors.
  FunctionShardingFunctors(const BoundProgram& bound, const CursorPool* cursors);
  FunctionShardingFunctors(const FunctionShardingFunctors&) = delete;
  FunctionShardingFunctors& operator=(const FunctionShardingFunctors&) = delete;

  // Returns all functors. The id of a functor is its position plus 1.
  std::span<const ShardingFunctor* const> all_functors() const { return list_; }
  // Returns the id of the functor for launches of that task.
  ShardingId functor_id(FunctionId function, std::string_view task) const;

 private:
  ShardingId add_functor(FunctionId function, std::string task);

  const CursorPool* cursors_;
  BoundProgram bound_;
  std::deque<FunctionSharding> functors_;
  std::vector<const ShardingFunctor*> list_;
  std::map<std::pair<FunctionId, std::string>, ShardingId, std::less<>> ids_by_name_;
};

}  // namespace groma::mapper
