// Sharding: which shard of a replicated task owns a point of what it launches.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "groma/geometry.h"
#include "groma/machine.h"

namespace groma {

using ShardId = std::uint32_t;
// Legion: ShardingID. kCyclicSharding is there in every runtime: points one after the other, the
// first coordinate fastest (Realm: AffineLinearizedIndexSpace).
using ShardingId = std::uint32_t;
inline constexpr ShardingId kCyclicSharding = 0;

// The processor of each shard; a process may have several shards. At least one.
using ShardTable = std::span<const Processor>;

// The shard that is to own what runs on `processor`: that of the processor itself; else, of those
// on its node, the one that its index falls to; else, of all, the one that its node falls to.
ShardId shard_of(const Processor& processor, ShardTable shards);

// A pure function of the point, the launch domain and the table of shards: the same answer on every
// node, at any time, from any thread (Legion: ShardingFunctor).
class ShardingFunctor {
 public:
  virtual ~ShardingFunctor() = default;

  // `domain` is not empty and contains `point`; the result is below shards.size().
  virtual ShardId shard(const Point& point, const Rect& domain, ShardTable shards) const = 0;

  // The boxes of `domain` that `shard` owns, in no particular order, no point twice (Legion:
  // invert). The default asks for every point.
  virtual void boxes_of(ShardId shard, const Rect& domain, ShardTable shards,
                        const std::function<void(const Rect&)>& box) const;
};

// kCyclicSharding.
class CyclicSharding final : public ShardingFunctor {
 public:
  ShardId shard(const Point& point, const Rect& domain, ShardTable shards) const override;
};

}  // namespace groma
