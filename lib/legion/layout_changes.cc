// Changes the layout of a request for an instance as a Layout statement says, and finds out whether
// the task may rely on the layout before the change.
#include "legion/layout_changes.h"

#include <algorithm>
#include <utility>

#include "legion/layouts.h"
#include "mapper/variant_layouts.h"

namespace groma::legion {
namespace {

// Returns the least alignment of a field, in bytes, that suits both the statement's layout and the
// request. The request's alignment may be exceeded: a multiple of it is right, too.
std::size_t joined_alignment(Legion::FieldID field, const LayoutSpec& layout,
                             const Legion::LayoutConstraintSet& set) {
  Legion::LayoutConstraintSet asked;
  for (Legion::AlignmentConstraint one : set.alignment_constraints) {
    if (one.eqk == LEGION_EQ_EK) one.eqk = LEGION_GE_EK;
    asked.alignment_constraints.push_back(one);
  }
  return alignment_of(field, layout, {&asked});
}

}  // namespace

// Applies a statement to a requested layout. Each part of the layout is changed only if the
// statement names it and if the change makes a difference. For example, the order of dimensions of
// a one-dimensional region is never changed.
LayoutChanges apply_stated_layout(const StatedLayout& said, int dimensions,
                                  InstanceRequestRecord& asked) {
  LayoutChanges changes;
  Legion::LayoutConstraintSet& set = asked.constraints;
  // First, the order of dimensions and of fields is changed.
  const LayoutDemand now = demand_of(0, set);
  LayoutSpec layout;
  layout.dimensions = now.dimensions.value_or(layout.dimensions);
  layout.fields = now.fields.value_or(layout.fields);
  const LayoutSpec before = layout;
  const auto& fields = set.field_constraint.get_field_set();
  if (said.named.dimensions && dimensions > 1) layout.dimensions = said.layout.dimensions;
  if (said.named.fields && fields.size() > 1) layout.fields = said.layout.fields;
  changes.order = !(layout == before);
  if (changes.order) {
    const bool contiguous = set.ordering_constraint.contiguous;
    set.ordering_constraint = ordering_of(layout, dimensions);
    set.ordering_constraint.contiguous = contiguous;
  }
  // Instances of reductions are never compact.
  changes.compact = said.layout.compact && !set.specialized_constraint.is_compact() &&
                    set.specialized_constraint.get_reduction_op() == 0;
  if (changes.compact) {
    set.specialized_constraint = Legion::SpecializedConstraint(LEGION_COMPACT_SPECIALIZE);
  }
  changes.exact = said.layout.exact && !asked.tight;
  if (changes.exact) set.specialized_constraint.exact = asked.tight = true;
  // Last, the alignment of each field is changed. A field whose alignment is already right keeps
  // it.
  if (said.layout.align_op == AlignOp::kNone) return changes;
  for (const Legion::FieldID field : fields) {
    const std::size_t bytes = joined_alignment(field, said.layout, set);
    auto& all = set.alignment_constraints;
    const auto same = [&](const Legion::AlignmentConstraint& one) { return one.fid == field; };
    const auto old = std::find_if(all.begin(), all.end(), same);
    if (bytes == (old == all.end() ? 1 : old->alignment)) continue;
    std::erase_if(all, same);
    all.emplace_back(field, LEGION_EQ_EK, bytes);
    changes.alignment = true;
  }
  return changes;
}

// Returns the conflict between a changed layout and the request. The checks begin with orders that
// no statement can name, because for these any change is a conflict. Gaps between the fields, which
// an alignment can cause, come next. The last two checks hold only if the program's own code chose
// the layout.
std::optional<groma::mapper::LayoutConflict> find_layout_conflict(
    const LayoutChanges& changes, const LayoutDecision& said, const InstanceRequestRecord& asked,
    std::size_t fields, const std::vector<Legion::LogicalRegion>& regions) {
  using groma::mapper::LayoutPart;
  const UnnamedOrder unnamed = demanded_unnamed_order(asked);
  if (unnamed.dimensions && said.named.dimensions) {
    return {{LayoutPart::kOrder, "another order of dimensions",
             said.layout.dimensions == DimensionOrder::kC ? "C_order" : "F_order"}};
  }
  if (unnamed.fields && said.named.fields) {
    return {{LayoutPart::kOrder, "fields between the dimensions",
             said.layout.fields == FieldOrder::kAos ? "AOS" : "SOA"}};
  }
  if (changes.alignment && demands_no_gaps(asked, fields)) {
    for (const LayoutDemand& demand : layout_demands_of_request(asked, fields, regions)) {
      if (demand.align_op != AlignOp::kLe) continue;
      auto gaps = groma::mapper::find_mapper_conflicts(demand, said.layout, MemKind::kSysmem, 1);
      if (!gaps.empty()) return std::move(gaps.front());
    }
  }
  if (!asked.by_program) return {};
  if (changes.compact) {
    return {{LayoutPart::kOther, "an instance with room for every point", "Compact"}};
  }
  if (changes.exact && (!asked.seen || covers_more_regions(asked, regions))) {
    return {
        {LayoutPart::kOther, "an instance that also covers points outside the region", "Exact"}};
  }
  return {};
}

}  // namespace groma::legion
