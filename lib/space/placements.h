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
  explicit PlacementFunctionCache(const Machine& machine);

  // Returns the most useful mapping functions for launches with these extents on processors of this
  // kind, at most 32. Those with a name of edit::common_index_functions() come first, since they
  // read best. The list is computed once for each combination.
  const std::vector<PlacementFunction>& functions_for(const std::vector<std::int64_t>& extents,
                                                      ProcKind kind) const;
  // Returns the mapping functions for single tasks: edit::kSamePoint, then edit::kFirstProcessor.
  // The second one also suits index launches.
  const std::vector<PlacementFunction>& single_functions() const { return single_; }
  // Returns the mapping function that runs index launches of this many dimensions on the first
  // node.
  const PlacementFunction& on_first_node(int dimensions) const;
  // Returns a random mapping function. `random` is any number, which decides the function. If one
  // of functions_for() does the same in a launch of at most 4,096 points, returns that one. Returns
  // null if the machine has no processors of this kind.
  PlacementFunction random_function(const std::vector<std::int64_t>& extents, ProcKind kind,
                                    std::uint64_t random) const;

 private:
  // The numbers of the processors to which a function sends the points of a launch.
  using ChosenProcessors = std::vector<std::uint32_t>;
  struct KnownFunctions {
    std::vector<PlacementFunction> all;
    // The index in `all` of the function that chooses these processors.
    std::map<ChosenProcessors, std::size_t> by_processors;
  };
  const KnownFunctions& known_functions(const std::vector<std::int64_t>& extents,
                                        ProcKind kind) const;
  KnownFunctions make_functions(const std::vector<std::int64_t>& extents, ProcKind kind) const;
  std::optional<edit::MappingFunction> draw_function(const std::vector<std::int64_t>& extents,
                                                     ProcKind kind, std::uint64_t random) const;
  // Returns the processors to which the function sends the first points of a launch; nullopt if the
  // function fails.
  std::optional<ChosenProcessors> processors_chosen_by(const edit::MappingFunction& function,
                                                       const Rect& launch, ProcKind kind) const;

  const Machine& machine_;
  std::vector<PlacementFunction> single_;
  // The functions on_first_node(), by the number of dimensions.
  mutable std::map<int, PlacementFunction> on_first_node_;
  // What make_functions() made, by the extents of the launch and the processor kind.
  mutable std::map<std::pair<std::vector<std::int64_t>, ProcKind>, KnownFunctions> known_;
};

}  // namespace groma::tuning
