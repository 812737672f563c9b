#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace groma::emit {

// @if regions || layouts || collects
// A region requirement of a task: its position, and the names of the region, its partition and what
// they are parts of, in this order.
struct Region {
  std::int64_t position = 0;
  std::vector<std::string> names;
};
// @end
// @if map_task
// How data lies: fields together (aos) or one after the other, the last dimension fastest (c_order)
// or the first.
enum class Align { kNone, kEq, kNe, kLt, kLe, kGt, kGe };
struct Layout {
  bool c_order = false, aos = false, compact = false, exact = false;
  Align align = Align::kNone;
  std::int64_t bytes = 0;
};
// @end

}  // namespace groma::emit
