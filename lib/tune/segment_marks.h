// The lines that bound a marked text's segments.
#pragma once

#include <string_view>

namespace groma::tuning {

// A line with `groma: begin NAME` or `groma: end`.
struct SegmentMark {
  bool begin = false, end = false;
  std::string_view name, about;
};
SegmentMark segment_mark(std::string_view line);
// Whether some line has one.
bool has_segment_mark(std::string_view text);

}  // namespace groma::tuning
