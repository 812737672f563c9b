// Our sharding functors as Legion's.
#pragma once

#include <legion.h>

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "groma/mapper.h"

namespace groma::legion {

// Which processor each shard has, by the number of shards: Legion tells its functors no more. The
// table is that of the last replicated task with so many shards; shards are made alike for all
// tasks of one program (a shard a node, or a processor). Thread-safe.
class ShardTables {
 public:
  using Table = std::shared_ptr<const std::vector<Processor>>;
  void note(std::vector<Processor> shards);
  // The table noted for `count` shards, or one processor of a node each, as far as they reach.
  Table find(std::size_t count) const;

 private:
  mutable std::mutex mutex_;
  mutable std::map<std::size_t, Table> tables_;
};

class FunctorAdapter final : public Legion::ShardingFunctor {
 public:
  // `functor` and `tables` must live until the runtime has stopped.
  FunctorAdapter(const groma::ShardingFunctor* functor, const ShardTables* tables)
      : functor_(functor), tables_(tables) {}

  Legion::ShardID shard(const Legion::DomainPoint& point, const Legion::Domain& domain,
                        std::size_t total) override;
  bool is_invertible() const override { return true; }
  // Correct with the domains in either order, in which releases pass them (legion.md 1.4).
  void invert(Legion::ShardID shard, const Legion::Domain& sharding, const Legion::Domain& index,
              std::size_t total, std::vector<Legion::DomainPoint>& points) override;

 private:
  const groma::ShardingFunctor* functor_;
  const ShardTables* tables_;
};

}  // namespace groma::legion
