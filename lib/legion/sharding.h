// Our sharding functors as Legion's.
#pragma once

#include <legion.h>

#include <map>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "groma/mapper.h"

namespace groma::legion {

class FunctorAdapter final : public Legion::ShardingFunctor {
 public:
  // `functor` must live until the runtime has stopped.
  FunctorAdapter(const groma::ShardingFunctor* functor, ShardTable shards)
      : functor_(functor), shards_(std::move(shards)) {}

  Legion::ShardID shard(const Legion::DomainPoint& point, const Legion::Domain& domain,
                        std::size_t total) override;
  bool is_invertible() const override { return true; }
  // Correct with the domains in either order, in which releases pass them (legion.md 1.4).
  void invert(Legion::ShardID shard, const Legion::Domain& sharding, const Legion::Domain& index,
              std::size_t total, std::vector<Legion::DomainPoint>& points) override;

 private:
  const groma::ShardingFunctor* functor_;
  ShardTable shards_;
};

// A mapper's functors under Legion's ids. Legion tells a functor no more of the shards than how
// many they are, so each table of shards gets functors of its own, registered when it is first
// seen, under ids that are the same on every node. Thread-safe.
class ShardFunctors {
 public:
  // `name` and `functors`, which live as long as the runtime, are the same on every node.
  void set(Legion::Runtime* runtime, std::string name,
           std::span<const groma::ShardingFunctor* const> functors);
  bool is_set() const { return runtime_ != nullptr; }
  std::size_t size() const { return functors_.size(); }
  // Of functor `id`, from 1 to size(), for that table.
  Legion::ShardingID id_of(groma::ShardingId id, const ShardTable& shards);

 private:
  Legion::Runtime* runtime_ = nullptr;
  std::string name_;
  std::span<const groma::ShardingFunctor* const> functors_;
  std::mutex mutex_;
  std::map<std::string, Legion::ShardingID> first_;  // of a table's functors, by its text
};

}  // namespace groma::legion
