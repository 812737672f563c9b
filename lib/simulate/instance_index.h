// InstanceIndex: finds an instance that answers a query, by memory, region and box. It visits only
// the instances whose boxes may fit.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/budget.h"
#include "simulate/instance.h"
#include "simulate/spaces.h"

namespace groma::sim {

class InstanceIndex {
 public:
  // The index refers to all arguments, so they must outlive it. It counts its work on `budget`. It
  // sets Instance::next of the instances. The number of an instance is its position in `instances`.
  InstanceIndex(std::size_t regions, const DataSpaces& spaces, std::vector<Instance>& instances,
                Budget& budget);

  // Adds an instance to the index. Its number must be higher than all numbers that were added
  // before.
  void add(InstanceNumber number);
  // Removes an instance from the index.
  void remove(InstanceNumber number);
  // Returns an instance of the index that answers the query: the oldest with the same shape,
  // otherwise the oldest that covers the piece. Queries for exact layouts and for reduction
  // instances accept only the same shape.
  std::optional<InstanceNumber> find(const InstanceQuery& query) const;

 private:
  // The oldest and the newest instance of a list. The list holds instances of one region in one
  // memory whose boxes have the same hash. Instance::next links its instances.
  struct Chain {
    InstanceNumber oldest, newest;
  };
  using Chains = std::unordered_map<std::uint64_t, Chain>;
  // The instances of one region in one memory, sorted by their boxes so that a search for a box
  // that covers another one visits few instances. The key consists of the bit width of the extent
  // and the lower bound of a box in the dimension of the region that is cut most. Instances with
  // equal keys are in the order of their age, the oldest first.
  using InstancesByWidth = std::map<std::pair<int, std::int64_t>, std::vector<InstanceNumber>>;

  InstancesByWidth::key_type width_key(std::uint32_t region, const Rect& box) const;
  std::optional<InstanceNumber> find_covering(const InstanceQuery& query,
                                              const InstancesByWidth& here) const;
  void remove_from_chain(InstanceNumber number, Chains::iterator chain);

  std::vector<Instance>& instances_;
  Budget& budget_;
  // For each region: the dimension that is cut into the most parts.
  std::vector<int> cut_most_;
  // For each pair of a memory and a region: its instances by the width of their boxes.
  std::unordered_map<std::uint64_t, InstancesByWidth> at_;
  // The lists of instances with equal boxes. The key is a hash of memory, region and box.
  Chains same_;
};

}  // namespace groma::sim
