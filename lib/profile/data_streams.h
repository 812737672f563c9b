// Splits the time of tasks on the critical path by the data that they stream and the memory from
// which they stream it, and says what each other memory would change. Also says how evenly the runs
// of each task are spread over processors.
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

// How the runs of one task are spread over the processors of one kind.
struct TaskSpread {
  std::int32_t task = -1;
  std::string kind;
  // The processors of the kind on the machine, and those that run the task.
  std::int64_t processors = 0, used = 0;
  // The number of distinct points in the task's index launches, and the number of dimensions of a
  // point. 0: the task has no index launch.
  std::int64_t points = 0;
  int dimensions = 0;
  // The number of runs if the task is a single task that points of an index launch launch;
  // otherwise 0.
  std::int64_t nested_runs = 0;
  // The processor that works longest on the task, as an index into RunRecord::processors.
  std::int32_t busiest = -1;
  // The time for which this processor works on the task longer than it would if the points or the
  // nested runs, each of the mean length, were spread evenly. 0 if it has no more of them than in
  // an even spread.
  RunTime lost = 0;
};
// Returns one entry for each task and kind of processor, the largest lost time first.
std::vector<TaskSpread> task_spreads(const Profile& profile, const std::vector<TimeSpan>& spans);

}  // namespace groma::profile
