#include "mapper/variant_layouts.h"

#include <algorithm>
#include <utility>

namespace groma::mapper {

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

std::vector<RefusedLayout> refused_layouts(const TaskView& task, std::size_t i,
                                           const VariantView& variant, const InstanceWish& wish,
                                           bool only_named) {
  std::vector<RefusedLayout> refused;
  const RequirementView& requirement = task.requirements[i];
  for (const LayoutDemand& demand : variant.demands) {
    if (demand.requirement != i) continue;
    // The program's mapper may ask for different layouts at different times. What the statement
    // does not name follows each of them.
    const bool part = only_named || demand.source == DemandSource::kMapper;
    for (LayoutConflict& conflict :
         find_conflicts(part ? named_part(demand, wish.layout_named) : demand, wish.layout,
                        wish.memory, requirement.region_dimensions, requirement.fields.size())) {
      refused.push_back({std::move(conflict), demand.source});
    }
  }
  return refused;
}

}  // namespace groma::mapper
