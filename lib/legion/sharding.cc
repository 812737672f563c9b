#include "legion/sharding.h"

#include "legion/task_views.h"

namespace groma::legion {

void ShardTables::note(std::vector<Processor> shards) {
  const std::lock_guard lock(mutex_);
  Table& table = tables_[shards.size()];
  if (table == nullptr || *table != shards) {
    table = std::make_shared<const std::vector<Processor>>(std::move(shards));
  }
}

ShardTables::Table ShardTables::find(std::size_t count) const {
  const std::lock_guard lock(mutex_);
  Table& table = tables_[count];
  if (table == nullptr) {
    std::vector<Processor> nodes;
    for (std::size_t i = 0; i < count; ++i) {
      nodes.push_back({ProcKind::kCpu, static_cast<std::int64_t>(i), 0});
    }
    table = std::make_shared<const std::vector<Processor>>(std::move(nodes));
  }
  return table;
}

Legion::ShardID FunctorAdapter::shard(const Legion::DomainPoint& point,
                                      const Legion::Domain& domain, std::size_t total) {
  const ShardTables::Table table = tables_->find(total);
  return functor_->shard(point_of(point), rect_of(domain), *table);
}

void FunctorAdapter::invert(Legion::ShardID shard, const Legion::Domain& sharding,
                            const Legion::Domain& index, std::size_t total,
                            std::vector<Legion::DomainPoint>& points) {
  const ShardTables::Table table = tables_->find(total);
  // Where they differ, points are those of the launch and are decided on in the sharding space,
  // which contains it.
  const bool swapped = index.get_volume() > sharding.get_volume();
  const Legion::Domain& launch = swapped ? sharding : index;
  const Legion::Domain& decided = swapped ? index : sharding;
  functor_->boxes_of(shard, rect_of(decided), *table, [&](const Rect& box) {
    Point at = box.lower;
    do {
      const Legion::DomainPoint point = realm_point(at);
      if (launch.contains(point)) points.push_back(point);
    } while (next_point(box, &at));
  });
}

}  // namespace groma::legion
