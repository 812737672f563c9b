// Splits the time of tasks on the critical path by the data that they stream and the memory from
// which they stream it, and says what each other memory would change.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "groma/profile.h"

namespace groma::profile {

// A part of a run: the intervals of time within the measured phase, or the whole run.
struct TimeSpan {
  RunTime begin = 0, end = 0;
};
// Returns the intervals in which the phase `measured` runs. Returns the whole run if the critical
// path has no time in this phase.
std::vector<TimeSpan> measured_spans(const Profile& profile, const std::string& measured);
// Returns the length of the part of an interval that lies within the spans, which are sorted by
// their ends.
RunTime time_within(const std::vector<TimeSpan>& spans, RunTime begin, RunTime end);

// Returns true if `number` is a valid index of the list.
template <typename List>
bool is_index_of(std::int64_t number, const List& list) {
  return number >= 0 && number < static_cast<std::int64_t>(list.size());
}
// Returns a number for the kind of each processor: the first processor of this kind.
std::vector<std::int32_t> kind_numbers(const RunRecord& record);

// The runs on the critical path of one task on one kind of processor, as far as they use one of its
// region requirements in one kind of memory.
struct DataStream {
  std::int32_t task = -1, requirement = -1;
  // The kinds of the processor and of the memory.
  std::string kind, memory;
  // The statement that placed the data; 0: the default mapper.
  std::int32_t statement = 0;
  // The time on the critical path in which the memory of this requirement is the bottleneck of the
  // task. If several requirements are in this memory, each one has a part in proportion to its
  // bytes.
  RunTime time = 0;
  // The bytes that the requirement moves in this time.
  std::int64_t bytes = 0;
  // The time on the critical path of all these runs, also where computing takes longer.
  RunTime task_time = 0;
  // What would change if the data were in another kind of memory.
  struct Alternative {
    std::string memory;
    // `task_time` in this case, estimated from the bandwidths.
    RunTime task_time = 0;
    // True if the memory would have room for the data, at the peak of its use.
    bool has_room = false;
  };
  std::vector<Alternative> alternatives;
};
// Returns the streams of a run, those with the longest time first. Returns an empty list if the
// record does not describe the costs of tasks.
std::vector<DataStream> data_streams(const Profile& profile, const std::vector<TimeSpan>& spans);

}  // namespace groma::profile
