// Lanes: a run as rows of spans that do not overlap, for pictures of it: processors, links, copies
// inside a memory and those whose links are not known, runtime processors.
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

struct Lane {
  enum class Kind : std::uint8_t { kProcessor, kLink, kMemory, kRuntime } kind;
  std::string name;
  std::int64_t node;
  std::vector<Span> spans;  // in the order of time
};

struct Lanes {
  std::vector<Lane> lanes;    // node by node, in the order of their kinds; none without a span
  std::vector<bool> on_path;  // by event
  std::int64_t left_out = 0;  // events
  RunTime longest_left_out = 0;
};

// Of the `most` longest events, those of the critical path before all others.
Lanes lanes_of(const Profile& profile, std::size_t most);

// The longest segments of the critical path, in order.
std::vector<std::size_t> longest_segments(const Profile& profile, std::size_t most);

// What a memory holds: at most `most` + 2 points, each the largest of its part of the time. Empty
// for a memory in which nothing was ever allocated.
struct Level {
  RunTime time;
  std::int64_t bytes;
};
std::vector<std::vector<Level>> levels_of(const Profile& profile, std::size_t most);

}  // namespace groma::profile
