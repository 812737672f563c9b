// Caches the domains of launches with conditions. If the cache becomes too large, it is emptied.
#include "app/launch_domains.h"

#include <utility>

namespace groma::app {
namespace {

// Limits on the domains of a cache and on the runs of their points, of some 80 bytes each.
constexpr std::size_t kMostDomains = 4096;
constexpr std::size_t kMostRuns = std::size_t{1} << 18;

std::size_t count_runs(const LaunchDomain& domain) {
  std::size_t runs = 1;
  if (domain.points) {
    domain.points->for_each_run(0, domain.points->count(),
                                [&](const Rect&, std::int64_t) { ++runs; });
  }
  return runs;
}

}  // namespace

const std::vector<std::size_t>& DomainCache::variables_of(const Launch& launch,
                                                          std::size_t frame_size) {
  const auto [known, is_new] = variables_.try_emplace(launch.number);
  if (!is_new) return known->second;
  const auto begin = static_cast<std::size_t>(launch.point_slot);
  for (std::size_t slot = 0; slot < frame_size; ++slot) {
    const bool is_coordinate = slot >= begin && slot < begin + launch.domain.size();
    if (!is_coordinate && launch.where.reads(static_cast<int>(slot))) {
      known->second.push_back(slot);
    }
  }
  return known->second;
}

std::optional<LaunchDomain> DomainCache::domain_of(const Launch& launch,
                                                   std::span<const std::int64_t> frame,
                                                   FormulaFault& fault,
                                                   const SpendFunction& spend) {
  const std::optional<Rect> box = box_of(launch, frame, fault);
  if (!box) return std::nullopt;
  if (!launch.has_condition()) return LaunchDomain(*box);
  Key key{static_cast<std::int64_t>(launch.number)};
  for (const Point* corner : {&box->lower, &box->extents}) {
    key.insert(key.end(), corner->coordinates().begin(), corner->coordinates().end());
  }
  for (const std::size_t slot : variables_of(launch, frame.size())) key.push_back(frame[slot]);
  const auto known = known_.find(key);
  if (known != known_.end()) return spend(1) ? std::optional(known->second) : std::nullopt;
  std::optional<LaunchDomain> made = app::domain_of(launch, frame, fault, spend);
  if (!made) return std::nullopt;
  const std::size_t runs = count_runs(*made);
  if (known_.size() >= kMostDomains || runs_ + runs > kMostRuns) {
    known_.clear();
    runs_ = 0;
  }
  runs_ += runs;
  known_.emplace(std::move(key), *made);
  return made;
}

}  // namespace groma::app
