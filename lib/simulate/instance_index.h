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
  // sets Instance::next of the instances, which are numbered by their place in `instances`.
  InstanceIndex(std::size_t regions, const Spaces& spaces, std::vector<Instance>& instances,
                Budget& budget);

  // Enters an instance. Its number must be higher than all numbers entered before.
  void add(InstanceNumber number);
  // Takes an instance out.
  void remove(InstanceNumber number);
  // Returns an entered instance that answers the query: the oldest with the same box, otherwise the
  // oldest that covers the piece. Exact layouts and reductions take only the same box.
  std::optional<InstanceNumber> find(const InstanceQuery& query) const;

 private:
  // The instances of a memory and a region whose boxes have the same hash, linked by
  // Instance::next.
  struct Chain {
    InstanceNumber oldest, newest;
  };
  using Chains = std::unordered_map<std::uint64_t, Chain>;
  // The instances of a region in a memory, from the oldest. The key is the width of their box in
  // the dimension that is cut most (logarithm, rounded up) and its begin there. So only few must be
  // visited to cover a box.
  using Wide = std::map<std::pair<int, std::int64_t>, std::vector<InstanceNumber>>;

  Wide::key_type width_key(std::uint32_t region, const Rect& box) const;
  std::optional<InstanceNumber> find_covering(const InstanceQuery& query, const Wide& here) const;
  void unchain(InstanceNumber number, Chains::iterator chain);

  std::vector<Instance>& instances_;
  Budget& budget_;
  std::vector<int> cut_most_;                   // dimension that is cut most, by region
  std::unordered_map<std::uint64_t, Wide> at_;  // by memory and region
  Chains same_;                                 // by memory, region and hash of the box
};

}  // namespace groma::sim
