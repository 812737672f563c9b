// PlacementFunctionCache: the mapping functions that a search tries for the index launches of a
// task.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "edit/functions.h"
#include "groma/geometry.h"
#include "groma/kinds.h"
#include "groma/machine.h"

namespace groma::tuning {

using PlacementFunction = std::shared_ptr<const edit::MappingFunction>;

// Makes mapping functions for index launches, and caches them. Only one thread may use the object
// at a time.
class PlacementFunctionCache {
 public:
  // `machine` must outlive the object.
  explicit PlacementFunctionCache(const Machine& machine) : machine_(machine) {}

  // Returns the most useful mapping functions for launches with these extents on processors of this
  // kind, at most 24. The list is computed once for each combination.
  const std::vector<PlacementFunction>& functions_for(const std::vector<std::int64_t>& extents,
                                                      ProcKind kind) const;
  // Returns a random mapping function, which need not be one of functions_for(). `random` is any
  // number, which decides the function. Returns null if the machine has no processors of this kind.
  PlacementFunction random_function(const std::vector<std::int64_t>& extents, ProcKind kind,
                                    std::uint64_t random) const;

 private:
  std::vector<PlacementFunction> make_functions(const std::vector<std::int64_t>& extents,
                                                ProcKind kind) const;
  // Returns the numbers of the processors to which the function sends the first points of a launch;
  // nullopt if the function fails.
  std::optional<std::vector<std::uint32_t>> processors_chosen_by(
      const edit::MappingFunction& function, const Rect& launch, ProcKind kind) const;

  const Machine& machine_;
  // The mapping functions that make_functions() made, by the extents of the launch and the
  // processor kind.
  mutable std::map<std::pair<std::vector<std::int64_t>, ProcKind>, std::vector<PlacementFunction>>
      known_;
};

}  // namespace groma::tuning
