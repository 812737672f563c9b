// Converts layouts to Legion's layout constraints and back, and puts the demands of a variant and
// the choice of a mapper into one set of constraints.
#include "legion/layouts.h"

#include <algorithm>
#include <array>

#include "legion/machine_map.h"
#include "mapper/demands.h"

namespace groma::legion {
namespace {

// Legion's comparison operators in the order of AlignOp, whose first value kNone has no
// counterpart.
constexpr std::array kEqualities = {LEGION_EQ_EK, LEGION_NE_EK, LEGION_LT_EK,
                                    LEGION_LE_EK, LEGION_GT_EK, LEGION_GE_EK};

// Returns the comparison operator of an alignment constraint, such as "equal" or "at least".
AlignOp align_op_of(Legion::EqualityKind kind) {
  const auto found = std::find(kEqualities.begin(), kEqualities.end(), kind);
  return static_cast<AlignOp>(found - kEqualities.begin() + 1);
}

bool contains(const std::vector<Legion::FieldID>& fields, Legion::FieldID field) {
  return std::find(fields.begin(), fields.end(), field) != fields.end();
}

// Returns the order of the dimensions in `order`, leaving the fields out. Returns nothing for fewer
// than two dimensions, or if the order is neither C nor Fortran order.
std::optional<DimensionOrder> dimensions_of(std::vector<Legion::DimensionKind> order) {
  std::erase(order, LEGION_DIM_F);
  if (order.size() < 2) return std::nullopt;
  if (std::is_sorted(order.begin(), order.end())) return DimensionOrder::kFortran;
  if (std::is_sorted(order.rbegin(), order.rend())) return DimensionOrder::kC;
  return std::nullopt;
}

// Returns the order of fields: AOS if the fields come first in `order`, SOA if they come last, and
// nothing if they stand between the dimensions or are missing.
std::optional<FieldOrder> fields_of(const std::vector<Legion::DimensionKind>& order) {
  if (order.size() < 2) return std::nullopt;
  if (order.front() == LEGION_DIM_F) return FieldOrder::kAos;
  if (order.back() == LEGION_DIM_F) return FieldOrder::kSoa;
  return std::nullopt;
}

// Returns true if no Layout statement can name this order. Examples: the fields stand between the
// dimensions, or the dimensions are in the order (Y, X, Z).
bool is_unspeakable(const std::vector<Legion::DimensionKind>& order) {
  const bool has_fields = std::find(order.begin(), order.end(), LEGION_DIM_F) != order.end();
  const std::size_t dimensions = order.size() - (has_fields ? 1 : 0);
  return (dimensions > 1 && !dimensions_of(order)) ||
         (has_fields && order.size() > 1 && !fields_of(order));
}

// Returns the kind of instance that a layout and the demands ask for: affine, compact, or for a
// reduction. The kind is exact if one of them wants that. A reduction instance is never compact.
Legion::SpecializedConstraint specialised(const Legion::RegionRequirement& requirement,
                                          const LayoutSpec& layout, const Demands& demands) {
  bool exact = layout.exact;
  Legion::SpecializedConstraint kind(layout.compact ? LEGION_COMPACT_SPECIALIZE
                                                    : LEGION_AFFINE_SPECIALIZE);
  for (const Legion::LayoutConstraintSet* demand : demands) {
    const Legion::SpecializedConstraint& asked = demand->specialized_constraint;
    exact = exact || asked.is_exact();
    if (asked.is_compact()) kind = asked;
  }
  if ((requirement.privilege & LEGION_READ_WRITE) == LEGION_REDUCE) {
    return {LEGION_AFFINE_REDUCTION_SPECIALIZE, requirement.redop, false, exact};
  }
  kind.exact = exact;
  return kind;
}

// The largest alignment that is tried, in bytes. No memory has so many bytes.
constexpr std::size_t kMostAlignment = std::size_t{1} << 62;

// The names of the parts of a layout, for messages, in the order of Legion's LayoutConstraintKind.
constexpr std::array<std::string_view, 10> kConstraintNames = {
    "kind of instance", "memory",    "fields",  "order",   "tiling",
    "dimensions",       "alignment", "offsets", "pointer", "padding"};

}  // namespace

// Returns the demand that a set of constraints expresses. If several fields have an alignment, the
// demand has the one that comes last.
LayoutDemand demand_of(std::uint32_t position, const Legion::LayoutConstraintSet& set) {
  LayoutDemand demand;
  demand.requirement = position;
  if (set.memory_constraint.has_kind) demand.memory = kind_of(set.memory_constraint.kind);
  const auto& order = set.ordering_constraint.ordering;
  demand.dimensions = dimensions_of(order);
  demand.fields = fields_of(order);
  demand.exact = set.specialized_constraint.is_exact();
  for (const Legion::AlignmentConstraint& alignment : set.alignment_constraints) {
    demand.align_op = align_op_of(alignment.eqk);
    demand.align_bytes = static_cast<std::int64_t>(alignment.alignment);
  }
  return demand;
}

// Groups fields by the demands that hold for them. Example: a variant demands AOS for fields 1 and
// 2 of a requirement with fields 1, 2 and 3. Then fields 1 and 2 are a group with that demand, and
// field 3 is a group without one. A demand that names no fields holds for every group.
std::vector<FieldGroup> group_fields(const Legion::RegionRequirement& requirement,
                                     const std::vector<Legion::FieldID>& all,
                                     const Demands& demands) {
  Demands of_all;
  std::vector<FieldGroup> groups;
  // `left` has the fields of the requirement that no demand has named so far.
  std::vector<Legion::FieldID> left(requirement.privilege_fields.begin(),
                                    requirement.privilege_fields.end());
  for (const Legion::LayoutConstraintSet* demand : demands) {
    const std::vector<Legion::FieldID>& fields = demand->field_constraint.get_field_set();
    if (fields.empty()) {
      of_all.push_back(demand);
      continue;
    }
    const std::size_t before = left.size();
    std::erase_if(left, [&](Legion::FieldID field) { return contains(fields, field); });
    if (left.size() < before) groups.push_back({fields, {demand}});
  }
  if (groups.empty()) return {{all, of_all}};
  if (!left.empty()) groups.push_back({left, {}});
  for (FieldGroup& group : groups) {
    group.demands.insert(group.demands.end(), of_all.begin(), of_all.end());
  }
  return groups;
}

// Returns an order of dimensions and fields as Legion's constraint. Example: two dimensions in C
// order with AOS give (F, Y, X), in Fortran order with SOA (X, Y, F).
Legion::OrderingConstraint ordering_of(const LayoutSpec& layout, int dimensions) {
  std::vector<Legion::DimensionKind> order;
  for (int d = 0; d < dimensions; ++d) {
    order.push_back(static_cast<Legion::DimensionKind>(LEGION_DIM_X + d));
  }
  if (layout.dimensions == DimensionOrder::kC) std::reverse(order.begin(), order.end());
  const bool soa = layout.fields == FieldOrder::kSoa;
  order.insert(soa ? order.end() : order.begin(), LEGION_DIM_F);
  return {order, false};
}

// Returns the constraints for a chosen instance. Where the choice and a demand both decide
// something, the choice has been checked against the demand before.
Legion::LayoutConstraintSet constraints_of(const Legion::RegionRequirement& requirement,
                                           const InstanceCandidate& instance,
                                           const FieldGroup& group) {
  Legion::LayoutConstraintSet set;
  set.add_constraint(specialised(requirement, instance.layout, group.demands));
  set.add_constraint(Legion::MemoryConstraint(realm_kind(instance.memory)));
  Legion::FieldConstraint fields(group.fields, false, false);
  LayoutSpec layout = instance.layout;
  // For a single field, AOS and SOA are the same, but Legion takes them for two layouts and copies
  // from one to the other.
  if (group.fields.size() == 1) layout.fields = FieldOrder::kSoa;
  if (requirement.privilege_fields.size() == 1) {
    // If the requirement has a single field, the check of the mapper's answer accepts any order of
    // fields that a demand names. The instance gets the order of the demand.
    for (const Legion::LayoutConstraintSet* demand : group.demands) {
      layout.fields = fields_of(demand->ordering_constraint.ordering).value_or(layout.fields);
    }
  }
  // The demands add parts of a layout that a mapping cannot express: tiling, offsets, padding,
  // contiguous fields.
  Legion::OrderingConstraint order = ordering_of(layout, requirement.region.get_dim());
  for (const Legion::LayoutConstraintSet* demand : group.demands) {
    const Legion::FieldConstraint& asked = demand->field_constraint;
    if (!asked.get_field_set().empty()) {
      fields.contiguous = asked.contiguous;
      fields.inorder = asked.inorder;
    }
    const auto& ordering = demand->ordering_constraint;
    if (is_unspeakable(ordering.ordering) && !instance.layout_origin) order = ordering;
    order.contiguous = order.contiguous || ordering.contiguous;
    for (const auto& one : demand->tiling_constraints) set.add_constraint(one);
    for (const auto& one : demand->dimension_constraints) set.add_constraint(one);
    for (const auto& one : demand->offset_constraints) set.add_constraint(one);
    if (demand->padding_constraint.delta.get_dim() > 0) {
      set.add_constraint(demand->padding_constraint);
    }
  }
  set.add_constraint(fields);
  set.add_constraint(order);
  for (Legion::FieldID field : group.fields) {
    const std::size_t bytes = alignment_of(field, instance.layout, group.demands);
    if (bytes > 1) set.add_constraint(Legion::AlignmentConstraint(field, LEGION_EQ_EK, bytes));
  }
  return set;
}

// Returns the least alignment of a field, in bytes, that satisfies the layout and the demands.
// Alignments are powers of 2, so the powers are tried from 1 on.
std::size_t alignment_of(Legion::FieldID field, const LayoutSpec& layout, const Demands& demands) {
  std::size_t bytes = 1;
  const auto fits = [&] {
    const auto at = static_cast<std::int64_t>(bytes);
    if (!groma::mapper::satisfies_alignment(at, layout.align_op, layout.align_bytes)) return false;
    for (const Legion::LayoutConstraintSet* demand : demands) {
      for (const Legion::AlignmentConstraint& one : demand->alignment_constraints) {
        if (one.fid != field) continue;
        if (!groma::mapper::satisfies_alignment(at, align_op_of(one.eqk),
                                                static_cast<std::int64_t>(one.alignment))) {
          return false;
        }
      }
    }
    return true;
  };
  while (!fits()) {
    bytes *= 2;
    // No alignment satisfies all demands. This is not reached, because find_conflicts() has refused
    // such an answer before.
    if (bytes > kMostAlignment) return 1;
  }
  return bytes;
}

std::size_t alignment_of(const Legion::LayoutConstraintSet& set) {
  std::size_t most = 1;
  for (const Legion::AlignmentConstraint& one : set.alignment_constraints) {
    most = std::max(most, one.alignment);
  }
  return most;
}

// The alignment in bytes of the first address of registered memory. Before Legion 25.12 it is that
// of malloc; from 25.12 on it is a cache line. The header named below exists only in Legion 25.12
// and later.
#if __has_include(<legion/api/runtime.h>)
constexpr std::size_t kRegisteredAlignment = 64;
#else
constexpr std::size_t kRegisteredAlignment = 16;
#endif

// Returns why a memory cannot hold an instance with these alignments, or an empty string. A memory
// with fewer bytes than the alignment has no suitable address except 0.
std::string why_memory_unsuitable(const Legion::LayoutConstraintSet& set, Legion::Memory memory) {
  const std::size_t alignment = alignment_of(set);
  if (memory.kind() == Legion::Memory::REGDMA_MEM && alignment > kRegisteredAlignment) {
    return "with this Legion it keeps no alignment above " + std::to_string(kRegisteredAlignment) +
           ", " + std::to_string(alignment) + " is needed";
  }
  if (alignment <= memory.capacity()) return {};
  return "no address is a multiple of " + std::to_string(alignment) + ", it has " +
         std::to_string(memory.capacity()) + " bytes";
}

// Returns the first part of the demands that the instance does not meet.
std::string_view first_unmet_demand(const Legion::Mapping::PhysicalInstance& instance,
                                    const Demands& demands) {
  for (const Legion::LayoutConstraintSet* demand : demands) {
    const Legion::LayoutConstraint* failed = nullptr;
    if (instance.entails(*demand, &failed)) continue;
    const auto kind = failed == nullptr ? kConstraintNames.size()
                                        : static_cast<std::size_t>(failed->get_constraint_kind());
    return kind < kConstraintNames.size() ? kConstraintNames[kind] : "layout";
  }
  return {};
}

}  // namespace groma::legion
