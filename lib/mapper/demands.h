// Compares the layout constraints of a variant with what a mapping states. This file is also part
// of the text that `groma emit` writes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "groma/kinds.h"

namespace groma::mapper {

// Returns true if the alignment `bytes` satisfies the constraint `op` `to`.
bool satisfies_alignment(std::int64_t bytes, AlignOp op, std::int64_t to);
// Returns the smallest power of two that satisfies the constraint. Returns 1 if the constraint only
// sets an upper bound, and INT64_MAX if no power of two satisfies it.
std::int64_t least_alignment(AlignOp op, std::int64_t to);

// Adds the demand of a variant to a layout.
void add_demand(const LayoutDemand& demand, LayoutSpec* layout);

// Returns the layout for a statement. The demand supplies any order that the statement leaves out,
// the exactness, and the alignment if the statement has none.
LayoutSpec join_layouts(const StatedLayout& said, const LayoutSpec& demanded);

// Returns the part of the demand that a statement with these named parts can contradict.
LayoutDemand named_part(LayoutDemand demand, const LayoutAspects& named);

// The part of a layout about which an instance and a demand disagree.
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
