// Finds out which layouts are accepted by the variants by which a task may run.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "groma/diagnostics.h"
#include "groma/mapper_output.h"
#include "groma/task_view.h"
#include "mapper/demands.h"

namespace groma::mapper {

// The other variants by which a task may run, beside `wanted`, to which it is mapped. The program's
// own mapper chooses among the variants of a kind, and a recording says which ones it chose.
struct OtherVariants {
  std::vector<const VariantView*> variants;
  // True: `wanted` and each of these variants run at times. False: one of them runs, and it is not
  // known which, since no run of the task on that kind of processor was recorded.
  bool all_run = true;
};
// Returns the other variants by which the task may run. There are none unless the program's own
// mapper was recorded.
OtherVariants other_variants(const TaskView& task, const VariantView& wanted);

// Returns the conflicts between an instance and a demand of the program's own mapper. A multiple of
// a demanded alignment is accepted. An upper bound of the alignment stands for fields without gaps
// between them.
std::vector<LayoutConflict> find_mapper_conflicts(LayoutDemand demand, const LayoutSpec& layout,
                                                  MemKind memory, int dimensions);

// Returns true if variants of this kind demand opposite orders of the dimensions of requirement
// `i`. Then no Layout statement that names an order suits all launches. `recorded`: only variants
// count that the program's own mapper chose when it was recorded.
bool variants_demand_opposite_orders(const TaskView& task, std::size_t i, ProcKind kind,
                                     bool recorded);
inline constexpr const char* kAndTheOpposite = " (and another of its variants the opposite)";
// Adds a help to the refusal of a layout if variants demand opposite orders.
void add_opposite_orders_help(Diagnostic& diagnostic);

// Adds a help to the error that a memory cannot keep an alignment.
void add_alignment_help(Diagnostic& diagnostic);

// A part of a chosen layout that a variant, or the program's own mapper, does not accept.
struct RefusedLayout : LayoutConflict {
  DemandSource by = DemandSource::kVariant;
  // True if the refused part is the order of the dimensions.
  bool is_of_dimensions = false;
};
// Returns the parts of the choice for requirement `i` that contradict what the variant demands.
// `only_named`: only parts that the Layout statement names are compared.
std::vector<RefusedLayout> refused_layouts(const TaskView& task, std::size_t i,
                                           const VariantView& variant,
                                           const InstanceCandidate& choice,
                                           bool only_named = false);

}  // namespace groma::mapper
