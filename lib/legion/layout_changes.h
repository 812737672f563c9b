// Applies a Layout statement of a mapping to the layout that a program's mapper requested.
#pragma once

#include <legion.h>

#include <optional>
#include <vector>

#include "groma/program.h"
#include "legion/asked_instances.h"
#include "mapper/demands.h"

namespace groma::legion {

// The parts of a requested layout that a statement changes.
struct LayoutChanges {
  // True if the order of dimensions or of fields changes.
  bool order = false;
  bool compact = false;
  bool exact = false;
  bool alignment = false;
  bool any() const { return order || compact || exact || alignment; }
};

// Applies the layout of a statement to the request `asked`, for regions of `dimensions` dimensions.
// Returns which parts of the layout changed.
LayoutChanges apply_stated_layout(const StatedLayout& said, int dimensions,
                                  InstanceRequestRecord& asked);

// Returns the part of a program's layout request that the changes contradict, or nothing. Such a
// contradiction matters if the program's own code chose the layout, because the task may then
// compute addresses from it. The demands of mapper_layout_demand() are checked elsewhere. `asked`
// is the request before the changes. The task uses `fields` fields of the instance in `regions`.
std::optional<groma::mapper::LayoutConflict> find_layout_conflict(
    const LayoutChanges& changes, const LayoutDecision& said, const InstanceRequestRecord& asked,
    std::size_t fields, const std::vector<Legion::LogicalRegion>& regions);

}  // namespace groma::legion
