// Recognises the lines that begin and end the segments of a marked text.
#pragma once

#include <string_view>

namespace groma::edit {

// A line with `groma: begin NAME` or `groma: end`.
struct SegmentMark {
  bool begin = false, end = false;
  std::string_view name, description;
};
// Returns the mark in a line; `begin` and `end` are false if there is none.
SegmentMark segment_mark(std::string_view line);
// Returns true if some line holds a mark.
bool has_segment_mark(std::string_view text);

}  // namespace groma::edit
