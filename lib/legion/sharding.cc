#include "legion/sharding.h"

#include <algorithm>

#include "legion/task_views.h"

namespace groma::legion {

// Under the lock.
const ShardTable& ShardTables::keep(std::vector<Processor> shards) const {
  auto known = std::find_if(kept_.begin(), kept_.end(),
                            [&](const ShardTable& table) { return table.shards() == shards; });
  if (known == kept_.end()) {
    kept_.emplace_back(std::move(shards));
    known = kept_.end() - 1;
  }
  tables_[known->size()] = &*known;
  last_.store(&*known, std::memory_order_release);
  return *known;
}

const ShardTable& ShardTables::note(const std::vector<Processor>& shards) {
  const std::lock_guard lock(mutex_);
  return keep(shards);
}

const ShardTable& ShardTables::find(std::size_t count) const {
  const ShardTable* last = last_.load(std::memory_order_acquire);
  if (last != nullptr && last->size() == count) return *last;
  const std::lock_guard lock(mutex_);
  const auto known = tables_.find(count);
  if (known != tables_.end()) {
    last_.store(known->second, std::memory_order_release);
    return *known->second;
  }
  std::vector<Processor> nodes;
  for (std::size_t i = 0; i < count; ++i) {
    nodes.push_back({ProcKind::kCpu, static_cast<std::int64_t>(i), 0});
  }
  return keep(std::move(nodes));
}

Legion::ShardID FunctorAdapter::shard(const Legion::DomainPoint& point,
                                      const Legion::Domain& domain, std::size_t total) {
  return functor_->shard(point_of(point), rect_of(domain), tables_->find(total));
}

void FunctorAdapter::invert(Legion::ShardID shard, const Legion::Domain& sharding,
                            const Legion::Domain& index, std::size_t total,
                            std::vector<Legion::DomainPoint>& points) {
  // Where they differ, points are those of the launch and are decided on in the sharding space,
  // which contains it.
  const bool swapped = index.get_volume() > sharding.get_volume();
  const Legion::Domain& launch = swapped ? sharding : index;
  const Legion::Domain& decided = swapped ? index : sharding;
  functor_->boxes_of(shard, rect_of(decided), tables_->find(total), [&](const Rect& box) {
    Point at = box.lower;
    do {
      const Legion::DomainPoint point = realm_point(at);
      if (launch.contains(point)) points.push_back(point);
    } while (next_point(box, &at));
  });
}

}  // namespace groma::legion
