// Lanes: shows a run as rows of spans that do not overlap, for pictures of the run. The rows are
// processors, links between memories, runtime processors, and copies whose links are not known.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "groma/profile.h"

namespace groma::profile {

// When an event begins and ends in its row of the timeline, cut to the time of the run.
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

// The rows of a picture.
struct Lanes {
  std::vector<Lane> lanes;    // node by node, none empty
  std::vector<bool> on_path;  // for each event: true if it is on the critical path
  // How many events are not in the picture.
  std::int64_t left_out = 0;
  // The length of the longest event that is not in the picture.
  RunTime longest_left_out = 0;
};

// Returns the rows for at most `most` events. Events of the critical path are chosen first, then
// the longest ones.
Lanes lanes_of(const Profile& profile, std::size_t most);

// Returns the indices of the `most` longest segments of the critical path, in the order of time.
std::vector<std::size_t> longest_segments(const Profile& profile, std::size_t most);

// The bytes that a memory holds at a time. levels_of() returns a list of levels for each memory,
// with at most `most` + 2 levels. Each is the largest one within its part of the run. The list is
// empty for a memory without allocations.
struct MemoryLevel {
  RunTime time;
  std::int64_t bytes;
};
std::vector<std::vector<MemoryLevel>> levels_of(const Profile& profile, std::size_t most);

}  // namespace groma::profile
