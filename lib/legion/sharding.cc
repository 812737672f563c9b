// Registers Groma's sharding functors with Legion, and evaluates them when Legion asks.
#include "legion/sharding.h"

#include <fmt/format.h>

#include "legion/task_views.h"

namespace groma::legion {

void ShardFunctors::set(Legion::Runtime* runtime, std::string name,
                        std::span<const groma::ShardingFunctor* const> functors,
                        LaunchPoints* points) {
  runtime_ = runtime;
  name_ = std::move(name);
  functors_ = functors;
  points_ = points;
}

// Returns the id of a functor for a table of shards. The functors of one table have consecutive
// ids, beginning with the one that Legion gives for the name of the mapping and the text of the
// table.
Legion::ShardingID ShardFunctors::id_of(groma::ShardingId id, const ShardTable& shards) {
  std::string table;
  for (const Processor& p : shards.shards()) {
    table += fmt::format(" {}{}.{}", name_of(p.kind), p.node, p.index);
  }
  {
    const std::lock_guard lock(mutex_);
    const auto found = first_.find(table);
    if (found != first_.end()) return found->second + id - 1;
  }
  // Legion may ask another node for these ids, so no lock is held during the call. The ids for a
  // name are always the same.
  const Legion::ShardingID first =
      runtime_->generate_library_sharding_ids((name_ + table).c_str(), functors_.size());
  const std::lock_guard lock(mutex_);
  if (first_.emplace(table, first).second) {
    Legion::ShardingID next = first;
    // Legion owns and deletes the FunctorAdapter objects that are registered here.
    for (const groma::ShardingFunctor* functor : functors_) {
      runtime_->register_sharding_functor(next++, new FunctorAdapter(functor, shards, points_),
                                          true);
    }
  }
  return first + id - 1;
}

// Returns the domain as a functor sees it. A domain with holes is the box around it for a functor
// that does not read its points.
LaunchDomain FunctorAdapter::launch_domain_of(const Legion::Domain& domain) const {
  LaunchDomain launch(rect_of(domain));
  if (points_ != nullptr) launch.points = points_->points_of(domain);
  return launch;
}

Legion::ShardID FunctorAdapter::shard(const Legion::DomainPoint& point,
                                      const Legion::Domain& domain, std::size_t) {
  return functor_->shard(point_of(point), launch_domain_of(domain), shards_);
}

// Appends all points of the launch that belong to the shard by the functor's rule.
void FunctorAdapter::invert(Legion::ShardID shard, const Legion::Domain& sharding,
                            const Legion::Domain& index, std::size_t,
                            std::vector<Legion::DomainPoint>& points) {
  // The sharding space contains the launch domain. If the two domains differ, the smaller one is
  // the launch domain, and the functor decides in the larger one.
  const bool swapped = index.get_volume() > sharding.get_volume();
  const Legion::Domain& launch = swapped ? sharding : index;
  const Legion::Domain& decided = swapped ? index : sharding;
  functor_->boxes_of(shard, launch_domain_of(decided), shards_, [&](const Rect& box) {
    Point at = box.lower;
    do {
      const Legion::DomainPoint point = realm_point(at);
      if (launch.contains(point)) points.push_back(point);
    } while (next_point(box, &at));
  });
}

}  // namespace groma::legion
