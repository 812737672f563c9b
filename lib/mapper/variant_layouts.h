// Which layouts the variants accept by which a task may run.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "groma/task_view.h"
#include "groma/wish.h"
#include "mapper/demands.h"

namespace groma::mapper {

// The variants by which a task may run that is mapped to `wanted`, beside that one. A mapper of the
// program's own chooses among those of a kind, and a recording tells which ones it chose.
struct OtherVariants {
  std::vector<const VariantView*> variants;
  // Each of them runs at times, as `wanted` does. False: one of them or `wanted` runs, and it is
  // not known which, since no run of the task on that kind of processor was recorded.
  bool all_run = true;
};
// Without a recorded mapper there are none.
OtherVariants other_variants(const TaskView& task, const VariantView& wanted);

struct RefusedLayout : LayoutConflict {
  DemandSource by = DemandSource::kVariant;
};
// Where the wish for requirement `i` contradicts what the variant demands. `only_named`: what the
// Layout statement does not name follows the variant.
std::vector<RefusedLayout> refused_layouts(const TaskView& task, std::size_t i,
                                           const VariantView& variant, const InstanceWish& wish,
                                           bool only_named = false);

}  // namespace groma::mapper
