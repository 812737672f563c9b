// Which layouts the variants accept by which a task may run.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "groma/diagnostics.h"
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

// Returns the conflicts between an instance and a demand of the program's own mapper. A multiple of
// a demanded alignment is no conflict. An upper bound of the alignment stands for fields without
// gaps between them.
std::vector<LayoutConflict> find_mapper_conflicts(LayoutDemand demand, const LayoutSpec& layout,
                                                  MemKind memory, int dimensions);

// Returns true if variants of this kind demand opposite orders of the dimensions of requirement
// `i`. No Layout statement that names such an order is then right for all launches. `recorded`:
// only variants count that the program's mapper was seen to choose.
bool variants_demand_opposite_orders(const TaskView& task, std::size_t i, ProcKind kind,
                                     bool recorded);
inline constexpr const char* kAndTheOpposite = " (and another of its variants the opposite)";
// Adds a help to a refused layout of such a task.
void add_opposite_orders_cure(Diagnostic& diagnostic);

// Adds a help to the error that a memory cannot keep an alignment.
void add_alignment_cure(Diagnostic& diagnostic);

struct RefusedLayout : LayoutConflict {
  DemandSource by = DemandSource::kVariant;
  bool is_of_dimensions = false;  // the order of the dimensions is refused
};
// Where the wish for requirement `i` contradicts what the variant demands. `only_named`: what the
// Layout statement does not name follows the variant.
std::vector<RefusedLayout> refused_layouts(const TaskView& task, std::size_t i,
                                           const VariantView& variant, const InstanceWish& wish,
                                           bool only_named = false);

}  // namespace groma::mapper
