// Registers Groma's sharding functors as Legion sharding functors.
#pragma once

#include <legion.h>

#include <map>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "groma/mapper.h"
#include "legion/launch_points.h"

namespace groma::legion {

class FunctorAdapter final : public Legion::ShardingFunctor {
 public:
  // `functor` and `points` must live until the runtime has stopped. `points` is null if the functor
  // does not read the points of sparse launches.
  FunctorAdapter(const groma::ShardingFunctor* functor, ShardTable shards, LaunchPoints* points)
      : functor_(functor), shards_(std::move(shards)), points_(points) {}

  Legion::ShardID shard(const Legion::DomainPoint& point, const Legion::Domain& domain,
                        std::size_t total) override;
  bool is_invertible() const override { return true; }
  // Returns the points that belong to a shard. Accepts the two domains in either order, because
  // Legion passes them for release operations in the other order (legion.md 1.4).
  void invert(Legion::ShardID shard, const Legion::Domain& sharding, const Legion::Domain& index,
              std::size_t total, std::vector<Legion::DomainPoint>& points) override;

 private:
  LaunchDomain launch_domain_of(const Legion::Domain& domain) const;

  const groma::ShardingFunctor* functor_;
  ShardTable shards_;
  LaunchPoints* points_;
};

// Registers a mapper's sharding functors with Legion and finds their ids. Legion tells a functor
// only the number of shards. Therefore each table of shards gets its own functors, registered when
// the table is first seen, under ids that are the same on every node. Thread-safe.
class ShardFunctors {
 public:
  // Sets the functors to register. `name` and `functors` must be the same on every node. `functors`
  // must outlive the runtime. `points` is as in FunctorAdapter.
  void set(Legion::Runtime* runtime, std::string name,
           std::span<const groma::ShardingFunctor* const> functors, LaunchPoints* points);
  bool is_set() const { return runtime_ != nullptr; }
  std::size_t size() const { return functors_.size(); }
  // Returns the id that Legion uses for the functor `id` (1 to size()) with this table of shards.
  Legion::ShardingID id_of(groma::ShardingId id, const ShardTable& shards);

 private:
  Legion::Runtime* runtime_ = nullptr;
  std::string name_;
  std::span<const groma::ShardingFunctor* const> functors_;
  LaunchPoints* points_ = nullptr;
  std::mutex mutex_;
  // The first id of the functors of a table of shards. The key is the table as text.
  std::map<std::string, Legion::ShardingID> first_;
};

}  // namespace groma::legion
