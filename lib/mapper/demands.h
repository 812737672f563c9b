// What the layout constraints of a variant demand, against what a mapping says. Also part of what
// `groma emit` writes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "groma/kinds.h"

namespace groma::mapper {

// Whether `bytes` is an alignment as is asked for.
bool aligns(std::int64_t bytes, AlignOp op, std::int64_t to);
// The least power of two that is one; 1, too, for what only asks for less. INT64_MAX: there is
// none.
std::int64_t least_alignment(AlignOp op, std::int64_t to);

// Adds to a layout what a variant demands.
void add_demand(const LayoutDemand& demand, LayoutSpec* layout);

// The layout that a statement asks for. From the demand come any order that the statement leaves
// out, exactness, and the alignment if the statement has none.
LayoutSpec join_layouts(const StatedLayout& said, const LayoutSpec& demanded);

// The part of the demand that a statement contradicts if it names something else there.
LayoutDemand named_part(LayoutDemand demand, const LayoutAspects& named);

struct LayoutConflict {
  std::string wants, says;
};
// Where an instance contradicts what is demanded of a region of so many dimensions and fields.
std::vector<LayoutConflict> find_conflicts(const LayoutDemand& demand, const LayoutSpec& layout,
                                           MemKind memory, int dimensions, std::size_t fields);

}  // namespace groma::mapper
