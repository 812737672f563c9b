// Types for the decisions of mapping statements: regions, layouts, limits, stealing. Part of the
// code that `groma emit` writes (lib/emit/parts.cc).
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/name_pattern.h"
#include "groma/kinds.h"

namespace groma::emit {

// @if selectors
// A task as selectors see it.
struct LaunchedTask {
  LaunchedTask(std::string_view text) : name(text) {}
  operator std::string_view() const { return name; }

  std::string_view name;
  // The names of the tasks above it, the launching task first.
  std::vector<std::string_view> parents = {};
  // The number of dimensions of its launch domain, and 0 for a single task.
  int dimensions = -1;
};
inline bool operator==(const LaunchedTask& task, std::string_view name) {
  return task.name == name;
}

// Returns true if the selector stands for the task: `path` has patterns for the tasks above it, the
// outermost first, and then for the task. A word that begins with `"` stands for the name behind
// it, even if this contains `*`. `dimensions` is -1 for any launch.
inline bool selects(std::initializer_list<std::string_view> path, int dimensions,
                    const LaunchedTask& task) {
  if (dimensions >= 0 && dimensions != task.dimensions) return false;
  if (path.size() > task.parents.size() + 1) return false;
  std::size_t above = path.size();
  for (const std::string_view word : path) {
    --above;
    const std::string_view name = above == 0 ? task.name : task.parents[above - 1];
    const bool fits = word.starts_with('"') ? name == word.substr(1) : matches_pattern(name, word);
    if (!fits) return false;
  }
  return true;
}
// @end
// @if regions || layouts || collects
// A region requirement of a task: its position, and the names of the region, its partition and the
// regions that contain them, in this order.
struct Region {
  std::int64_t position = 0;
  std::vector<std::string> names;
};
// @end
// @if region_patterns

// Returns true if the pattern matches one of the names.
inline bool any_matches(const std::vector<std::string>& names, std::string_view pattern) {
  for (const std::string& name : names) {
    if (matches_pattern(name, pattern)) return true;
  }
  return false;
}
// @end
// @if layouts || instances

// The layout of data: the first dimension (kFortran) or the last one (kC) is the fastest; fields
// lie one after the other (kSoa) or together (kAos).
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
// The parts of a layout that a Layout statement names.
struct LayoutAspects {
  bool dimensions = false, fields = false, exact = false, alignment = false;
};
// A Layout statement: the layout that it demands. `named` tells which properties of the layout the
// statement mentions; the others are free.
struct StatedLayout {
  LayoutSpec layout;
  LayoutAspects named;
};
// @end
// @if instances

// A layout that a task variant demands for a region requirement.
struct LayoutDemand {
  // The position of the region requirement.
  std::uint32_t requirement = 0;
  std::optional<DimensionOrder> dimensions;
  std::optional<FieldOrder> fields;
  std::optional<MemKind> memory;
  bool exact = false, not_exact = false;
  AlignOp align_op = AlignOp::kNone;
  std::int64_t align_bytes = 0;
};

// A possible instance of a region: its memory kind and its layout.
struct InstanceCandidate {
  MemKind memory = MemKind::kSysmem;
  LayoutSpec layout;
  // True if a statement decides the layout.
  bool layout_origin = false;
};
// @end
// @if shared_limits

// The processors for which the running instances of a task are counted together.
enum class LimitScope { kProcessor, kNode, kMachine };
// @end
// @if steals

// The idle processors that may take a waiting task: those of its node, or those of any node.
enum class Steal { kSameNode, kAnyNode };
// @end

}  // namespace groma::emit
