// An IndexMap against the reference evaluation, by every question that it answers.
#pragma once

#include <optional>
#include <string>

#include "groma/evaluate.h"
#include "groma/index_map.h"

namespace groma::testing {

struct IndexMapTally {
  int launches = 0, points = 0;
  int errors = 0;  // launches with a point that fails
  int placed = 0;  // with one that does not
  int specialised = 0, proved = 0;
};

// What differs, "" if nothing, in the launch (or single task) `launch`. `map` may be one
// that other threads use too; null: it is made here.
std::string compare_with_reference(const BoundProgram& bound, FunctionId function,
                                   const TaskPoint& launch, std::optional<ProcKind> kind,
                                   IndexMapTally* tally,
                                   std::shared_ptr<const IndexMap> map = nullptr);

}  // namespace groma::testing
