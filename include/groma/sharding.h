// Sharding: decides which shard of a replicated task owns a point of a launch.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "groma/geometry.h"
#include "groma/machine.h"
#include "groma/point_set.h"

namespace groma {

using ShardId = std::uint32_t;
// The id of a sharding functor (Legion: ShardingID). Every runtime has kCyclicSharding: it deals
// the points to the shards one after the other, the first coordinate fastest (Realm:
// AffineLinearizedIndexSpace).
using ShardingId = std::uint32_t;
inline constexpr ShardingId kCyclicSharding = 0;

// The processor of each shard; a process may have several shards. Immutable. It is made once for a
// replicated task and may be read from any thread.
class ShardTable {
 public:
  ShardTable() = default;
  explicit ShardTable(std::vector<Processor> shards);

  std::size_t size() const { return shards_.size(); }
  const Processor& operator[](ShardId shard) const { return shards_[shard]; }
  const std::vector<Processor>& shards() const { return shards_; }

  // Returns the shard that owns what runs on `processor`. The first rule that applies decides: the
  // shard on the processor itself; a shard on its node, chosen by the processor's index; any shard,
  // chosen by the node's number. The table must not be empty. The time grows with the logarithm of
  // the number of shards on one node, and does not depend on the number of all shards.
  ShardId shard_of(const Processor& processor) const;

  // Returns the number of shards on a node; 0 if there is no such node.
  std::size_t count_on(std::int64_t node) const { return on_node(node).count; }
  // Returns true if each of the nodes 0 to nodes - 1 has a shard.
  bool covers(std::int64_t nodes) const;

 private:
  struct NodeShards {
    std::int64_t node = 0;
    // The range of the node's shards in in_order_ and by_processor_.
    std::size_t begin = 0, count = 0;
  };
  struct ProcessorShard {
    Processor processor;
    ShardId shard;
  };
  NodeShards on_node(std::int64_t node) const;

  std::vector<Processor> shards_;
  // The shards of each node, sorted by node.
  std::vector<NodeShards> nodes_;
  std::vector<ShardId> in_order_;
  std::vector<ProcessorShard> by_processor_;
};

// A pure function of the point, the launch domain and the shard table. It gives the same answer on
// every node, at any time, from any thread (Legion: ShardingFunctor).
class ShardingFunctor {
 public:
  virtual ~ShardingFunctor() = default;

  // Returns the shard of a point. `domain` is not empty and contains `point`. The result is below
  // shards.size().
  virtual ShardId shard(const Point& point, const LaunchDomain& domain,
                        const ShardTable& shards) const = 0;

  // Calls `box` for the boxes of `domain` that `shard` owns, in no particular order, without a
  // point twice (Legion: invert). The default asks shard() for every point.
  virtual void boxes_of(ShardId shard, const LaunchDomain& domain, const ShardTable& shards,
                        const std::function<void(const Rect&)>& box) const;
};

// The sharding functor with the id kCyclicSharding: deals the points of a launch to the shards in
// turn.
class CyclicSharding final : public ShardingFunctor {
 public:
  ShardId shard(const Point& point, const LaunchDomain& domain,
                const ShardTable& shards) const override;
  // Gives the points of the shard one by one, in row-major order, without visiting other points.
  void boxes_of(ShardId shard, const LaunchDomain& domain, const ShardTable& shards,
                const std::function<void(const Rect&)>& box) const override;
};

}  // namespace groma
