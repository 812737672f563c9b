// Finds out which parts of a layout the variants of a task, or the program's own mapper, do not
// accept.
#include "mapper/variant_layouts.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace groma::mapper {

// Returns the other variants of the same kind by which the task may run. A recording tells which
// ones the program's own mapper chose. Without a recording, and for a shard, there are none.
OtherVariants other_variants(const TaskView& task, const VariantView& wanted) {
  OtherVariants others;
  const auto is_chosen = [](const VariantView& one) { return one.chosen_by_mapper; };
  const bool recorded = std::any_of(task.variants.begin(), task.variants.end(), is_chosen);
  if (!recorded || task.shard_variant != 0) return others;
  others.all_run = wanted.chosen_by_mapper;
  for (const VariantView& one : task.variants) {
    if (one.id == wanted.id || one.kind != wanted.kind) continue;
    if (one.chosen_by_mapper == wanted.chosen_by_mapper) others.variants.push_back(&one);
  }
  return others;
}

// Compares an instance with a demand of the program's own mapper. Such a demand is weaker than that
// of a variant: a larger alignment is accepted.
std::vector<LayoutConflict> find_mapper_conflicts(LayoutDemand demand, const LayoutSpec& layout,
                                                  MemKind memory, int dimensions) {
  const bool equal = demand.align_op == AlignOp::kEq;
  const bool no_gaps = demand.align_op == AlignOp::kLe;
  // Alignments are powers of two, so a larger one is a multiple.
  if (equal) demand.align_op = AlignOp::kGe;
  // A demand has an order of fields only if the instance has several fields.
  constexpr std::size_t kSeveral = 2;
  std::vector<LayoutConflict> found = find_conflicts(demand, layout, memory, dimensions, kSeveral);
  for (LayoutConflict& conflict : found) {
    if (conflict.part != LayoutPart::kAlignment) continue;
    if (equal) conflict.wants = "Align==" + std::to_string(demand.align_bytes);
    if (no_gaps) conflict.wants = "fields without gaps between them";
  }
  return found;
}

// Returns true if two variants of the kind demand opposite orders of the dimensions of requirement
// i.
bool variants_demand_opposite_orders(const TaskView& task, std::size_t i, ProcKind kind,
                                     bool recorded) {
  std::optional<DimensionOrder> seen;
  for (const VariantView& variant : task.variants) {
    if (variant.kind != kind || (recorded && !variant.chosen_by_mapper)) continue;
    for (const LayoutDemand& demand : variant.demands) {
      const bool names_order =
          demand.requirement == i && demand.dimensions && demand.source == DemandSource::kVariant;
      if (!names_order) continue;
      if (seen && seen != demand.dimensions) return true;
      seen = demand.dimensions;
    }
  }
  return false;
}

void add_opposite_orders_help(Diagnostic& diagnostic) {
  diagnostic.help(
      "leave the order out of the `Layout` statement; each launch then gets the order that its "
      "variant wants");
}

void add_alignment_help(Diagnostic& diagnostic) {
  diagnostic.help(
      "name another memory in the `Region` statement, or a smaller alignment in the `Layout` "
      "statement if this statement asks for the alignment");
}

// Returns the parts of the chosen layout that the variant refuses.
std::vector<RefusedLayout> refused_layouts(const TaskView& task, std::size_t i,
                                           const VariantView& variant,
                                           const InstanceCandidate& choice, bool only_named) {
  std::vector<RefusedLayout> refused;
  const RequirementView& requirement = task.requirements[i];
  for (const LayoutDemand& demand : variant.demands) {
    if (demand.requirement != i) continue;
    // The program's mapper may ask for different layouts at different times. Parts of a layout that
    // the statement does not name follow each of these requests.
    const bool by_mapper = demand.source == DemandSource::kMapper;
    const LayoutDemand part =
        only_named || by_mapper ? demand_on_named_properties(demand, choice.layout_named) : demand;
    std::vector<LayoutConflict> conflicts =
        by_mapper ? find_mapper_conflicts(part, choice.layout, choice.memory,
                                          requirement.region_dimensions)
                  : find_conflicts(part, choice.layout, choice.memory,
                                   requirement.region_dimensions, requirement.fields.size());
    // A conflict about the order of dimensions comes first in the list.
    bool is_of_dimensions = part.dimensions && *part.dimensions != choice.layout.dimensions &&
                            requirement.region_dimensions > 1;
    for (LayoutConflict& conflict : conflicts) {
      refused.push_back(
          {std::move(conflict), demand.source, std::exchange(is_of_dimensions, false)});
    }
  }
  return refused;
}

}  // namespace groma::mapper
