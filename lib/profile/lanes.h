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
  std::vector<bool> on_path;  // for each event: true if it is on the critical path
  std::int64_t left_out = 0;  // number of events that were left out
  RunTime longest_left_out = 0;
};

// Returns the lanes of at most `most` events: first those of the critical path, then the longest
// others.
Lanes lanes_of(const Profile& profile, std::size_t most);

// Returns the indices of the `most` longest segments of the critical path, in the order of time.
std::vector<std::size_t> longest_segments(const Profile& profile, std::size_t most);

// The bytes that a memory holds at a time. levels_of() returns a list of them for each memory: at
// most `most` + 2, each the largest within its part of the time. The list is empty for a memory
// without allocations.
struct MemoryLevel {
  RunTime time;
  std::int64_t bytes;
};
std::vector<std::vector<MemoryLevel>> levels_of(const Profile& profile, std::size_t most);

}  // namespace groma::profile
