#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "groma/kinds.h"

namespace groma::emit {

// @if regions || layouts || collects
// A region requirement of a task: its position, and the names of the region, its partition and what
// they are parts of, in this order.
struct Region {
  std::int64_t position = 0;
  std::vector<std::string> names;
};
// @end
// @if layouts || instances

// How data lies: the first dimension fastest (kFortran) or the last (kC), fields one after the
// other (kSoa) or together (kAos).
enum class DimensionOrder : std::uint8_t { kFortran, kC };
enum class FieldOrder : std::uint8_t { kSoa, kAos };
enum class AlignOp : std::uint8_t { kNone, kEq, kNe, kLt, kLe, kGt, kGe };
struct LayoutSpec {
  DimensionOrder dimensions = DimensionOrder::kFortran;
  FieldOrder fields = FieldOrder::kSoa;
  bool compact = false, exact = false;
  AlignOp align_op = AlignOp::kNone;
  std::int64_t align_bytes = 0;
};
// Which orders a Layout statement names.
struct LayoutAspects {
  bool dimensions = false, fields = false, exact = false, alignment = false;
};
// What a Layout statement says.
struct StatedLayout {
  LayoutSpec layout;
  LayoutAspects named;
};
// @end
// @if instances

// What a variant demands of it.
struct LayoutDemand {
  std::uint32_t requirement = 0;  // its position
  std::optional<DimensionOrder> dimensions;
  std::optional<FieldOrder> fields;
  std::optional<MemKind> memory;
  bool exact = false, not_exact = false;
  AlignOp align_op = AlignOp::kNone;
  std::int64_t align_bytes = 0;
};

// An instance that would do.
struct InstanceWish {
  MemKind memory = MemKind::kSysmem;
  LayoutSpec layout;
  bool layout_origin = false;  // whether a statement says it
};
// @end
// @if shared_limits

// Over which processors instances of a task are counted together.
enum class LimitScope { kProcessor, kNode, kMachine };
// @end
// @if steals

// Who may take a task that waits: the idle processors of its node, or of any.
enum class Steal { kSameNode, kAnyNode };
// @end

}  // namespace groma::emit
