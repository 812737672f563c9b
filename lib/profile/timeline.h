// Timeline: arranges the events of a run in rows of spans that do not overlap, for a timeline. The
// rows are processors, links between memories, runtime processors, and copies whose links are not
// known.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "groma/profile.h"

namespace groma::profile {

// When an event begins and ends in its row of the timeline, cut to the time of the run.
struct EventSpan {
  std::int64_t event;
  RunTime begin, end;
};

// One row of a run's timeline, such as a processor.
struct TimelineLane {
  enum class Kind : std::uint8_t { kProcessor, kLink, kMemory, kRuntime } kind;
  std::string name;
  std::int64_t node;
  // The kind of the processor. Empty for other lanes.
  std::string processor_kind;
  // The events of the row in the order of time.
  std::vector<EventSpan> spans;
};

// The rows of a run's timeline.
struct Timeline {
  // The rows, sorted by node. No row is empty.
  std::vector<TimelineLane> lanes;
  // For each event of the run, true if the event is on the critical path.
  std::vector<bool> on_path;
  // The number of events that are not in the timeline.
  std::int64_t left_out = 0;
  // The duration of the longest event that is not in the timeline, in picoseconds.
  RunTime longest_left_out = 0;
};

// Returns the rows of a run's timeline, with at most `most` events. Events of the critical path are
// chosen first, then the longest ones.
Timeline make_timeline(const Profile& profile, std::size_t most);

// Returns the indices of the `most` longest segments of the critical path, in the order of time.
std::vector<std::size_t> longest_path_segments(const Profile& profile, std::size_t most);

// The number of bytes that are allocated in a memory at a time. allocated_bytes_over_time() returns
// a list of these numbers for each memory, with at most `most` + 2 entries. The run is divided into
// intervals, and each entry is the largest number in one of them. The last entry is the number at
// the end of the run. The list is empty for a memory without allocations.
struct AllocatedBytesAtTime {
  RunTime time;
  std::int64_t bytes;
};
std::vector<std::vector<AllocatedBytesAtTime>> allocated_bytes_over_time(const Profile& profile,
                                                                         std::size_t most);

}  // namespace groma::profile
