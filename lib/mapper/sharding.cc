// Shards: whose is what runs on a processor, and the cyclic functor.
#include "groma/sharding.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "groma/result.h"

namespace groma {

namespace {

// Points of a shard that are put in order at once: 128 MB.
constexpr std::int64_t kMostSorted = std::int64_t{1} << 24;

bool before(const Processor& a, const Processor& b) {
  return std::tuple(a.node, a.kind, a.index) < std::tuple(b.node, b.kind, b.index);
}

}  // namespace

ShardTable::ShardTable(std::vector<Processor> shards) : shards_(std::move(shards)) {
  for (ShardId s = 0; s < shards_.size(); ++s) {
    in_order_.push_back(s);
    by_processor_.push_back({shards_[s], s});
  }
  std::stable_sort(in_order_.begin(), in_order_.end(),
                   [&](ShardId a, ShardId b) { return shards_[a].node < shards_[b].node; });
  std::stable_sort(by_processor_.begin(), by_processor_.end(),
                   [](const Owner& a, const Owner& b) { return before(a.processor, b.processor); });
  for (std::size_t i = 1; i < by_processor_.size(); ++i) {  // of several the first owns
    const Owner& last = by_processor_[i - 1];
    if (by_processor_[i].processor == last.processor) by_processor_[i].shard = last.shard;
  }
  for (std::size_t i = 0; i < in_order_.size(); ++i) {
    const std::int64_t node = shards_[in_order_[i]].node;
    if (nodes_.empty() || nodes_.back().node != node) nodes_.push_back({node, i, 0});
    ++nodes_.back().count;
  }
}

ShardTable::Group ShardTable::on_node(std::int64_t node) const {
  if (nodes_.empty()) return {};
  // Nodes mostly follow one another.
  const auto guess = static_cast<std::size_t>(node - nodes_.front().node);
  if (guess < nodes_.size() && nodes_[guess].node == node) return nodes_[guess];
  const auto found =
      std::lower_bound(nodes_.begin(), nodes_.end(), node,
                       [](const Group& group, std::int64_t wanted) { return group.node < wanted; });
  return found != nodes_.end() && found->node == node ? *found : Group{};
}

bool ShardTable::covers(std::int64_t nodes) const {
  const auto place = [&](std::int64_t node) {
    return std::lower_bound(
        nodes_.begin(), nodes_.end(), node,
        [](const Group& group, std::int64_t wanted) { return group.node < wanted; });
  };
  return place(nodes) - place(0) == nodes;
}

ShardId ShardTable::shard_of(const Processor& processor) const {
  GROMA_CHECK(!shards_.empty());
  const Group group = on_node(processor.node);
  if (group.count == 0) {
    return static_cast<ShardId>(static_cast<std::size_t>(processor.node) % shards_.size());
  }
  if (group.count == 1) return in_order_[group.begin];
  const auto first = by_processor_.begin() + static_cast<std::ptrdiff_t>(group.begin);
  const auto last = first + static_cast<std::ptrdiff_t>(group.count);
  // So do a node's processors.
  const auto guess = static_cast<std::size_t>(processor.index - first->processor.index);
  if (guess < group.count) {
    const Owner& owner = by_processor_[group.begin + guess];
    if (owner.processor == processor) return owner.shard;
  }
  const auto itself = std::lower_bound(
      first, last, processor,
      [](const Owner& owner, const Processor& p) { return before(owner.processor, p); });
  if (itself != last && itself->processor == processor) return itself->shard;
  return in_order_[group.begin + static_cast<std::size_t>(processor.index) % group.count];
}

void ShardingFunctor::boxes_of(ShardId shard_id, const Rect& domain, const ShardTable& shards,
                               const std::function<void(const Rect&)>& box) const {
  if (domain.volume() == 0) return;
  Point one = Point::zeros(domain.dimensions());
  for (int d = 0; d < one.dimensions(); ++d) one[d] = 1;
  Point point = domain.lower;
  do {
    if (shard(point, domain, shards) == shard_id) box(Rect{point, one});
  } while (next_point(domain, &point));
}

ShardId CyclicSharding::shard(const Point& point, const Rect& domain,
                              const ShardTable& shards) const {
  const auto count = static_cast<std::int64_t>(shards.size());
  std::int64_t shard = 0;
  for (int d = domain.dimensions() - 1; d >= 0; --d) {  // modulo the shards throughout
    const std::int64_t extent = domain.extents[d] % count;
    shard = (shard * extent + (point[d] - domain.lower[d]) % count) % count;
  }
  return static_cast<ShardId>(shard);
}

void CyclicSharding::boxes_of(ShardId shard_id, const Rect& domain, const ShardTable& shards,
                              const std::function<void(const Rect&)>& box) const {
  const std::int64_t volume = domain.volume();
  const auto count = static_cast<std::int64_t>(shards.size());
  if (volume / count > kMostSorted) {
    return ShardingFunctor::boxes_of(shard_id, domain, shards, box);
  }
  // Places in row-major order of the points that are the shard's by their place in the other order,
  // in which the first coordinate changes fastest.
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
