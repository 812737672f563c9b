// Our sharding functors as Legion's.
#pragma once

#include <legion.h>

#include <atomic>
#include <deque>
#include <map>
#include <mutex>
#include <vector>

#include "groma/mapper.h"

namespace groma::legion {

// Which processor each shard has, by the number of shards: Legion tells its functors no more. The
// table is that of the last replicated task with so many shards; shards are made alike for all
// tasks of one program (a shard a node, or a processor). Thread-safe.
class ShardTables {
 public:
  // Notes the table, which is kept: only tables that were not there yet are. Both results live as
  // long as this.
  const ShardTable& note(const std::vector<Processor>& shards);
  // The table noted for `count` shards, or one processor of a node each, as far as they reach.
  const ShardTable& find(std::size_t count) const;

 private:
  const ShardTable& keep(std::vector<Processor> shards) const;

  mutable std::mutex mutex_;
  mutable std::deque<ShardTable> kept_;
  mutable std::map<std::size_t, const ShardTable*> tables_;
  mutable std::atomic<const ShardTable*> last_ = nullptr;  // found or noted; asked for every point
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
