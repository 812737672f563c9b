// Lanes: shows a run as rows of spans that do not overlap, for pictures. The rows are processors,
// links, runtime processors, and copies within a memory or over unknown links.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "groma/profile.h"

namespace groma::profile {

struct Span {
  std::int64_t event;
  RunTime begin, end;
};

// One row of the picture.
struct Lane {
  enum class Kind : std::uint8_t { kProcessor, kLink, kMemory, kRuntime } kind;
  std::string name;
  std::int64_t node;
  std::vector<Span> spans;  // in the order of time
};

struct Lanes {
  std::vector<Lane> lanes;    // node by node, in the order of their kinds; none is empty
  std::vector<bool> on_path;  // by event
  std::int64_t left_out = 0;  // number of events
  RunTime longest_left_out = 0;
};

// Returns lanes with the `most` longest events. Events of the critical path precede all others.
Lanes lanes_of(const Profile& profile, std::size_t most);

// Returns the longest segments of the critical path, in order.
std::vector<std::size_t> longest_segments(const Profile& profile, std::size_t most);

// The bytes that a memory holds at a time. levels_of() returns, for each memory, at most `most` + 2
// points, each the largest of its part of the time. The list is empty for a memory without
// allocations.
struct Level {
  RunTime time;
  std::int64_t bytes;
};
std::vector<std::vector<Level>> levels_of(const Profile& profile, std::size_t most);

}  // namespace groma::profile
