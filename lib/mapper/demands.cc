// Compares what variants demand of layouts with what statements say, and joins both.
#include "mapper/demands.h"

#include <array>

namespace groma::mapper {

// Returns true if the alignment `bytes` satisfies the constraint. `to` is in bytes, too.
bool satisfies_alignment(std::int64_t bytes, AlignOp op, std::int64_t to) {
  switch (op) {
    case AlignOp::kNone:
      return true;
    case AlignOp::kEq:
      return bytes == to;
    case AlignOp::kNe:
      return bytes != to;
    case AlignOp::kLt:
      return bytes < to;
    case AlignOp::kLe:
      return bytes <= to;
    case AlignOp::kGt:
      return bytes > to;
    case AlignOp::kGe:
      return bytes >= to;
  }
  return false;
}

// Returns the least alignment that satisfies the constraint. Alignments are powers of two, so only
// these are tried.
std::int64_t least_alignment(AlignOp op, std::int64_t to) {
  if (op == AlignOp::kLt || op == AlignOp::kLe) return 1;
  for (int shift = 0; shift < 63; ++shift) {
    const std::int64_t bytes = std::int64_t{1} << shift;
    if (satisfies_alignment(bytes, op, to)) return bytes;
  }
  return INT64_MAX;
}

// Replaces those properties of `layout` that the demand names. The others stay as they are.
void add_demand(const LayoutDemand& demand, LayoutSpec* layout) {
  layout->dimensions = demand.dimensions.value_or(layout->dimensions);
  layout->fields = demand.fields.value_or(layout->fields);
  layout->exact = layout->exact || demand.exact;
  if (demand.align_op == AlignOp::kNone) return;
  layout->align_op = demand.align_op;
  layout->align_bytes = demand.align_bytes;
}

// Returns the statement's layout, completed by what a variant demands. Where both name a part, the
// statement's stays; whether it contradicts the demand is checked elsewhere.
LayoutSpec complete_layout(const StatedLayout& said, const LayoutSpec& demanded) {
  LayoutSpec layout = said.layout;
  layout.exact = layout.exact || demanded.exact;
  if (!said.named.dimensions) layout.dimensions = demanded.dimensions;
  if (!said.named.fields) layout.fields = demanded.fields;
  if (layout.align_op == AlignOp::kNone) {
    layout.align_op = demanded.align_op;
    layout.align_bytes = demanded.align_bytes;
  }
  return layout;
}

// Returns the demand without the properties that the Layout statement does not name.
LayoutDemand demand_on_named_properties(LayoutDemand demand, const LayoutAspects& named) {
  if (!named.dimensions) demand.dimensions.reset();
  if (!named.fields) demand.fields.reset();
  if (!named.exact) demand.not_exact = false;
  if (!named.alignment) demand.align_op = AlignOp::kNone;
  return demand;
}

namespace {

// Returns true if one alignment, a power of two, satisfies both constraints.
bool can_agree(const LayoutDemand& a, const LayoutSpec& b) {
  for (int shift = 0; shift < 63; ++shift) {
    const std::int64_t bytes = std::int64_t{1} << shift;
    if (satisfies_alignment(bytes, a.align_op, a.align_bytes) &&
        satisfies_alignment(bytes, b.align_op, b.align_bytes)) {
      return true;
    }
  }
  return false;
}

// Returns the alignment as the mapping language writes it, such as "Align==64".
std::string align_text(AlignOp op, std::int64_t bytes) {
  constexpr std::array kOps = {"no ", "==", "!=", "<", "<=", ">", ">="};
  return "Align" + std::string(kOps[static_cast<std::size_t>(op)]) + std::to_string(bytes);
}
const char* order_text(DimensionOrder order) {
  return order == DimensionOrder::kC ? "C_order" : "F_order";
}
const char* fields_text(FieldOrder order) { return order == FieldOrder::kAos ? "AOS" : "SOA"; }

}  // namespace

// An order is compared only if it makes a difference: the order of dimensions for two or more
// dimensions, the order of fields for two or more fields.
std::vector<LayoutConflict> find_conflicts(const LayoutDemand& demand, const LayoutSpec& layout,
                                           MemKind memory, int dimensions, std::size_t fields) {
  std::vector<LayoutConflict> found;
  if (demand.dimensions && *demand.dimensions != layout.dimensions && dimensions > 1) {
    found.push_back(
        {LayoutPart::kOrder, order_text(*demand.dimensions), order_text(layout.dimensions)});
  }
  if (demand.fields && *demand.fields != layout.fields && fields > 1) {
    found.push_back({LayoutPart::kOrder, fields_text(*demand.fields), fields_text(layout.fields)});
  }
  if (demand.not_exact && layout.exact) {
    found.push_back(
        {LayoutPart::kOther, "an instance that also covers points outside the region", "Exact"});
  }
  if (demand.memory && *demand.memory != memory) {
    found.push_back(
        {LayoutPart::kOther, std::string(name_of(*demand.memory)), std::string(name_of(memory))});
  }
  if (!can_agree(demand, layout)) {
    found.push_back({LayoutPart::kAlignment, align_text(demand.align_op, demand.align_bytes),
                     align_text(layout.align_op, layout.align_bytes)});
  }
  return found;
}

}  // namespace groma::mapper
