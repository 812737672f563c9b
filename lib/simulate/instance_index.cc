// Implements InstanceIndex with two tables: one for equal boxes, and one for boxes that cover a
// piece.
#include "simulate/instance_index.h"

#include <algorithm>
#include <bit>

#include "simulate/hash.h"

namespace groma::sim {
namespace {

// Returns a number that combines a memory and a region. It is their key in the table `at_`.
std::uint64_t place_of(std::int32_t memory, std::uint32_t region) {
  return static_cast<std::uint64_t>(static_cast<std::uint32_t>(memory)) << 32 | region;
}

// Returns the key of a box in the table `same_`. Equal boxes have equal keys. Boxes with equal keys
// may differ, so the caller compares them.
std::uint64_t box_key(std::uint64_t place, const Rect& box) { return combine_hash(place, box); }

// Returns whether the instance answers the query. If `same_shape` is true, the instance must hold
// exactly the shape of the query; otherwise it may hold more.
bool fits(const Instance& instance, const InstanceQuery& query, bool same_shape) {
  if (!instance.alive || instance.reduction != query.reduction) return false;
  if ((instance.groups & query.groups) != query.groups) return false;
  if (instance.layout.dimensions != query.layout.dimensions ||
      instance.layout.fields != query.layout.fields ||
      instance.layout.compact != query.layout.compact ||
      instance.layout.align_op != query.layout.align_op ||
      instance.layout.align_bytes != query.layout.align_bytes) {
    return false;
  }
  if (same_shape) return have_same_points(*instance.shape, *query.shape);
  return is_covered_by(*query.piece, *instance.shape);
}

}  // namespace

// For each region, stores the dimension that the pieces of its partitions cut into the most parts.
InstanceIndex::InstanceIndex(std::size_t regions, const DataSpaces& spaces,
                             std::vector<Instance>& instances, Budget& budget)
    : instances_(instances), budget_(budget) {
  for (std::size_t r = 0; r < regions; ++r) {
    const RegionSpace& space = spaces.region(static_cast<std::uint32_t>(r));
    const auto most =
        std::max_element(space.cuts.begin(), space.cuts.end(),
                         [](const auto& a, const auto& b) { return a.size() < b.size(); });
    cut_most_.push_back(static_cast<int>(most - space.cuts.begin()));
  }
}

// Returns the key of a box in the map InstancesByWidth. The key has two parts, for the dimension of
// the region that is cut most: the bit width of the extent of the box, and the lower bound of the
// box.
InstanceIndex::InstancesByWidth::key_type InstanceIndex::width_key(std::uint32_t region,
                                                                   const Rect& box) const {
  const int d = cut_most_[region];
  return {std::bit_width(static_cast<std::uint64_t>(box.extents[d])), box.lower[d]};
}

// Adds the instance to the table by width and to the list of instances whose boxes have the same
// key.
void InstanceIndex::add(InstanceNumber number) {
  const Instance& instance = instances_[number];
  const std::uint64_t place = place_of(instance.memory, instance.region);
  const Rect& box = instance.shape->box;
  at_[place][width_key(instance.region, box)].push_back(number);
  const auto [chain, is_new] = same_.try_emplace(box_key(place, box), Chain{number, number});
  if (is_new) return;
  instances_[chain->second.newest].next = number;
  chain->second.newest = number;
}

// Removes the instance from both tables. Keys without instances are removed, too.
void InstanceIndex::remove(InstanceNumber number) {
  const Instance& instance = instances_[number];
  const std::uint64_t place = place_of(instance.memory, instance.region);
  const Rect& box = instance.shape->box;
  InstancesByWidth& here = at_[place];
  const auto alike = here.find(width_key(instance.region, box));
  std::erase(alike->second, number);
  if (alike->second.empty()) here.erase(alike);
  remove_from_chain(number, same_.find(box_key(place, box)));
}

// Removes an instance from the chain of instances whose boxes have the same key. Removes the chain
// with its last instance.
void InstanceIndex::remove_from_chain(InstanceNumber number, Chains::iterator chain) {
  InstanceNumber before = kVirtual;
  std::int64_t passed = 0;
  for (InstanceNumber at = chain->second.oldest; at != number; at = instances_[at].next) {
    before = at;
    ++passed;
  }
  budget_.spend(passed);
  const InstanceNumber after = instances_[number].next;
  (before == kVirtual ? chain->second.oldest : instances_[before].next) = after;
  if (after == kVirtual) chain->second.newest = before;
  if (chain->second.oldest == kVirtual) same_.erase(chain);
}

// Looks for equal boxes first, since most tasks use an instance again that was made for their
// piece.
std::optional<InstanceNumber> InstanceIndex::find(const InstanceQuery& query) const {
  const std::uint64_t place = place_of(query.memory, query.region);
  if (const auto here = same_.find(box_key(place, query.shape->box)); here != same_.end()) {
    for (InstanceNumber number = here->second.oldest; number != kVirtual && !budget_.spend(1);
         number = instances_[number].next) {
      if (fits(instances_[number], query, true)) return number;
    }
  }
  const auto here = at_.find(place);
  if (here == at_.end() || query.layout.exact || query.reduction) return std::nullopt;
  return find_covering(query, here->second);
}

// Returns the oldest instance that covers the piece of the query. `here` holds the instances by the
// bit width of the extent of their boxes. The search skips boxes that begin after the piece or end
// before its end.
std::optional<InstanceNumber> InstanceIndex::find_covering(const InstanceQuery& query,
                                                           const InstancesByWidth& here) const {
  const Rect& box = query.piece->box;
  const int d = cut_most_[query.region];
  // An empty piece is covered by every box.
  const bool empty = box.volume() == 0;
  const std::int64_t begin = empty ? INT64_MAX : box.lower[d];
  // Returns the smallest key, among the boxes whose extent has this bit width, of a box that can
  // cover the piece. Such a box extends over less than 2^width, so it can reach the end of the
  // piece only if it does not begin too early.
  const auto least = [&](int width) {
    if (empty || width > 62) return InstancesByWidth::key_type{width, INT64_MIN};
    return InstancesByWidth::key_type{width,
                                      begin + box.extents[d] - ((std::int64_t{1} << width) - 1)};
  };
  std::optional<InstanceNumber> oldest;
  auto at = here.lower_bound(least(empty ? 0 : width_key(query.region, box).first));
  while (at != here.end() && !budget_.spend(4)) {
    const auto [width, lower] = at->first;
    if (lower > begin) {
      at = here.lower_bound(least(width + 1));
    } else if (at->first < least(width)) {
      at = here.lower_bound(least(width));
    } else {
      for (InstanceNumber number : at->second) {
        if ((oldest && *oldest < number) || budget_.spend(1)) break;
        if (fits(instances_[number], query, false)) oldest = number;
      }
      ++at;
    }
  }
  return oldest;
}

}  // namespace groma::sim
