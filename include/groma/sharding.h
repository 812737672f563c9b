// Sharding: which shard of a replicated task owns a point of what it launches.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "groma/geometry.h"
#include "groma/machine.h"

namespace groma {

using ShardId = std::uint32_t;
// Legion: ShardingID. kCyclicSharding is there in every runtime: points one after the other, the
// first coordinate fastest (Realm: AffineLinearizedIndexSpace).
using ShardingId = std::uint32_t;
inline constexpr ShardingId kCyclicSharding = 0;

// The processor of each shard; a process may have several shards. Immutable: made once for a
// replicated task, then asked for every point from any thread.
class ShardTable {
 public:
  ShardTable() = default;
  explicit ShardTable(std::vector<Processor> shards);

  std::size_t size() const { return shards_.size(); }
  const Processor& operator[](ShardId shard) const { return shards_[shard]; }
  const std::vector<Processor>& shards() const { return shards_; }

  // The shard that is to own what runs on `processor`: that of the processor itself; else, of those
  // on its node, the one that its index falls to; else, of all, the one that its node falls to. The
  // table must not be empty. No slower with more shards, but for those on one node: their
  // logarithm.
  ShardId shard_of(const Processor& processor) const;

  // How many shards a node has, 0 where there is no such node.
  std::size_t count_on(std::int64_t node) const { return on_node(node).count; }
  // Whether each of the nodes from 0 to before `nodes` has one.
  bool covers(std::int64_t nodes) const;

 private:
  struct Group {
    std::int64_t node = 0;
    std::size_t begin = 0, count = 0;  // of both lists below
  };
  struct Owner {
    Processor processor;
    ShardId shard;
  };
  Group on_node(std::int64_t node) const;

  std::vector<Processor> shards_;
  std::vector<Group> nodes_;  // by node
  std::vector<ShardId> in_order_;
  std::vector<Owner> by_processor_;
};

// A pure function of the point, the launch domain and the table of shards: the same answer on every
// node, at any time, from any thread (Legion: ShardingFunctor).
class ShardingFunctor {
 public:
  virtual ~ShardingFunctor() = default;

  // `domain` is not empty and contains `point`; the result is below shards.size().
  virtual ShardId shard(const Point& point, const Rect& domain, const ShardTable& shards) const = 0;

  // The boxes of `domain` that `shard` owns, in no particular order, no point twice (Legion:
  // invert). The default asks for every point.
  virtual void boxes_of(ShardId shard, const Rect& domain, const ShardTable& shards,
                        const std::function<void(const Rect&)>& box) const;
};

// kCyclicSharding.
class CyclicSharding final : public ShardingFunctor {
 public:
  ShardId shard(const Point& point, const Rect& domain, const ShardTable& shards) const override;
  // The points of a shard one by one, in row-major order, without a look at those of others.
  void boxes_of(ShardId shard, const Rect& domain, const ShardTable& shards,
                const std::function<void(const Rect&)>& box) const override;
};

}  // namespace groma
