// Compares the layout constraints of a variant with what a mapping states. This file is also part
// of the text that `groma emit` writes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "groma/kinds.h"

namespace groma::mapper {

// Returns true if an alignment of `bytes` satisfies the constraint that `op` and the bytes `to`
// state.
bool satisfies_alignment(std::int64_t bytes, AlignOp op, std::int64_t to);
// Returns the smallest power of two that satisfies the constraint. Returns 1 if the constraint only
// sets an upper bound, and INT64_MAX if no power of two satisfies it.
std::int64_t least_alignment(AlignOp op, std::int64_t to);

// Replaces the properties of `layout` that the variant's demand names.
void add_demand(const LayoutDemand& demand, LayoutSpec* layout);

// Returns the layout that a Layout statement gives an instance. The variant's demand supplies any
// order that the statement leaves out, the exactness, and the alignment if the statement has none.
LayoutSpec complete_layout(const StatedLayout& said, const LayoutSpec& demanded);

// Returns the demand reduced to the properties that a Layout statement names, since only these can
// contradict it.
LayoutDemand demand_on_named_properties(LayoutDemand demand, const LayoutAspects& named);

// The property of a layout about which an instance and a variant's demand disagree.
enum class LayoutPart : std::uint8_t { kOrder, kAlignment, kOther };

struct LayoutConflict {
  LayoutPart part;
  std::string wants, says;
};
// Returns the conflicts between an instance and the demand. `dimensions` and `fields` are the
// numbers of the region's dimensions and fields.
std::vector<LayoutConflict> find_conflicts(const LayoutDemand& demand, const LayoutSpec& layout,
                                           MemKind memory, int dimensions, std::size_t fields);

}  // namespace groma::mapper
