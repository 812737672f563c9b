// Computes which shard of a replicated task owns a processor or a point. Implements the cyclic
// functor.
#include "groma/sharding.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "groma/result.h"

namespace groma {

namespace {

// Limit on the points of one shard that are sorted at once: 128 MB.
constexpr std::int64_t kMostSorted = std::int64_t{1} << 24;

// Returns true if `a` comes before `b`: by node, then kind, then index.
bool before(const Processor& a, const Processor& b) {
  return std::tuple(a.node, a.kind, a.index) < std::tuple(b.node, b.kind, b.index);
}

}  // namespace

// Sorts the shards by node and by processor, so that shard_of() can search for them.
ShardTable::ShardTable(std::vector<Processor> shards) : shards_(std::move(shards)) {
  for (ShardId s = 0; s < shards_.size(); ++s) {
    in_order_.push_back(s);
    by_processor_.push_back({shards_[s], s});
  }
  std::stable_sort(in_order_.begin(), in_order_.end(),
                   [&](ShardId a, ShardId b) { return shards_[a].node < shards_[b].node; });
  std::stable_sort(by_processor_.begin(), by_processor_.end(),
                   [](const ProcessorShard& a, const ProcessorShard& b) {
                     return before(a.processor, b.processor);
                   });
  // If several shards are on one processor, the first owns it.
  for (std::size_t i = 1; i < by_processor_.size(); ++i) {
    const ProcessorShard& last = by_processor_[i - 1];
    if (by_processor_[i].processor == last.processor) by_processor_[i].shard = last.shard;
  }
  for (std::size_t i = 0; i < in_order_.size(); ++i) {
    const std::int64_t node = shards_[in_order_[i]].node;
    if (nodes_.empty() || nodes_.back().node != node) nodes_.push_back({node, i, 0});
    ++nodes_.back().count;
  }
}

// Returns the shards on a node as a range of `in_order_`. The range is empty if the node has no
// shard.
ShardTable::NodeShards ShardTable::on_node(std::int64_t node) const {
  if (nodes_.empty()) return {};
  // Nodes mostly have consecutive numbers, so look there first.
  const auto guess = static_cast<std::size_t>(node - nodes_.front().node);
  if (guess < nodes_.size() && nodes_[guess].node == node) return nodes_[guess];
  const auto found = std::lower_bound(
      nodes_.begin(), nodes_.end(), node,
      [](const NodeShards& group, std::int64_t wanted) { return group.node < wanted; });
  return found != nodes_.end() && found->node == node ? *found : NodeShards{};
}

// Returns true if each of the first `nodes` nodes has a shard.
bool ShardTable::covers(std::int64_t nodes) const {
  const auto place = [&](std::int64_t node) {
    return std::lower_bound(
        nodes_.begin(), nodes_.end(), node,
        [](const NodeShards& group, std::int64_t wanted) { return group.node < wanted; });
  };
  return place(nodes) - place(0) == nodes;
}

// Returns the shard that owns what runs on the processor:
// * The shard on this very processor owns it, if there is one.
// * Otherwise a shard on the same node owns it, chosen by the processor's index.
// * If the node has no shard, any shard owns it, chosen by the node's number.
ShardId ShardTable::shard_of(const Processor& processor) const {
  GROMA_REQUIRE(!shards_.empty(), "a ShardTable needs at least one shard");
  const NodeShards group = on_node(processor.node);
  if (group.count == 0) {
    return static_cast<ShardId>(static_cast<std::size_t>(processor.node) % shards_.size());
  }
  if (group.count == 1) return in_order_[group.begin];
  const auto first = by_processor_.begin() + static_cast<std::ptrdiff_t>(group.begin);
  const auto last = first + static_cast<std::ptrdiff_t>(group.count);
  // The processors of a node mostly have consecutive indices, too.
  const auto guess = static_cast<std::size_t>(processor.index - first->processor.index);
  if (guess < group.count) {
    const ProcessorShard& owner = by_processor_[group.begin + guess];
    if (owner.processor == processor) return owner.shard;
  }
  const auto itself = std::lower_bound(
      first, last, processor,
      [](const ProcessorShard& owner, const Processor& p) { return before(owner.processor, p); });
  if (itself != last && itself->processor == processor) return itself->shard;
  return in_order_[group.begin + static_cast<std::size_t>(processor.index) % group.count];
}

// Passes on the points of the shard one by one, after asking shard() about every point. Functors
// override this if they can find boxes.
void ShardingFunctor::boxes_of(ShardId shard_id, const LaunchDomain& domain,
                               const ShardTable& shards,
                               const std::function<void(const Rect&)>& box) const {
  if (domain.count() == 0) return;
  Point one = Point::zeros(domain.box.dimensions());
  for (int d = 0; d < one.dimensions(); ++d) one[d] = 1;
  Point point = domain.first_point();
  do {
    if (shard(point, domain, shards) == shard_id) box(Rect{point, one});
  } while (next_point(domain, &point));
}

// Returns the owner of a point: the position of the point in the box, with the first coordinate
// changing fastest, modulo the number of shards. The position is reduced at every step, so that
// nothing overflows.
ShardId CyclicSharding::shard(const Point& point, const LaunchDomain& launch,
                              const ShardTable& shards) const {
  const Rect& domain = launch.box;
  const auto count = static_cast<std::int64_t>(shards.size());
  std::int64_t shard = 0;
  for (int d = domain.dimensions() - 1; d >= 0; --d) {
    const std::int64_t extent = domain.extents[d] % count;
    shard = (shard * extent + (point[d] - domain.lower[d]) % count) % count;
  }
  return static_cast<ShardId>(shard);
}

// Passes on the points of the shard in row-major order. A shard with more than kMostSorted points,
// or with some of the points of a box, is searched point by point.
void CyclicSharding::boxes_of(ShardId shard_id, const LaunchDomain& launch,
                              const ShardTable& shards,
                              const std::function<void(const Rect&)>& box) const {
  const Rect& domain = launch.box;
  const std::int64_t volume = domain.volume();
  const auto count = static_cast<std::int64_t>(shards.size());
  if (launch.points || volume / count > kMostSorted) {
    return ShardingFunctor::boxes_of(shard_id, launch, shards, box);
  }
  // Find the positions of the shard's points in row-major order. Which shard owns a point depends
  // on the point's position in the other order, in which the first coordinate changes fastest.
  std::vector<std::int64_t> places;
  for (std::int64_t i = shard_id; i < volume; i += count) {
    std::int64_t rest = i, place = 0;
    for (int d = 0; d < domain.dimensions(); ++d) {
      place = place * domain.extents[d] + rest % domain.extents[d];
      rest /= domain.extents[d];
    }
    places.push_back(place);
  }
  if (domain.dimensions() > 1) std::sort(places.begin(), places.end());
  Rect one{domain.lower, domain.extents};
  for (int d = 0; d < one.dimensions(); ++d) one.extents[d] = 1;
  for (std::int64_t place : places) {
    for (int d = domain.dimensions() - 1; d >= 0; --d) {
      one.lower[d] = domain.lower[d] + place % domain.extents[d];
      place /= domain.extents[d];
    }
    box(one);
  }
}

}  // namespace groma
