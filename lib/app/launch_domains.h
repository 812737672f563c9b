// DomainCache: the domains of launches with conditions, each evaluated once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "app/data.h"

namespace groma::app {

// Keeps the domains of launches by the launch statement, the box and the values of the variables
// that the condition reads. Not thread-safe.
class DomainCache {
 public:
  // Returns the domain of an index launch as domain_of() does. `spend` is as in domain_of(); a
  // known domain costs one unit.
  std::optional<LaunchDomain> domain_of(const Launch& launch, std::span<const std::int64_t> frame,
                                        FormulaFault& fault, const SpendFunction& spend);

 private:
  using Key = std::vector<std::int64_t>;
  const std::vector<std::size_t>& variables_of(const Launch& launch, std::size_t frame_size);

  // For each launch, by its number: the variables that its condition reads, except the coordinates
  // of the point.
  std::map<std::uint32_t, std::vector<std::size_t>> variables_;
  std::map<Key, LaunchDomain> known_;
  // The number of runs of points in known_.
  std::size_t runs_ = 0;
};

}  // namespace groma::app
