// Says how evenly the runs of each task are spread over processors, and which tasks run the same
// points on different nodes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "groma/profile.h"
#include "profile/data_streams.h"

namespace groma::profile {

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
  // True if points with the same coordinates ran on different processors in different launches, as
  // in launches over different domains. Then `points` and `busiest_point_count` count a point once
  // for each launch that has it.
  bool counts_all_launches = false;
  // The number of runs if the task is a single task that points of an index launch launch;
  // otherwise 0.
  std::int64_t nested_runs = 0;
  // The processor that works longest on the task, as an index into RunRecord::processors.
  std::int32_t busiest = -1;
  // At most 8 points that this processor runs, those with the longest time first, and the number of
  // all its points. The points are indices into RunRecord::points.
  std::vector<std::int32_t> busiest_points;
  std::int64_t busiest_point_count = 0;
  // At most 16 points whose runs take at least 1.25 times as long as a run of the task does in the
  // mean, with this factor, the longest first.
  struct HeavyPoint {
    std::int32_t point = -1;
    double weight = 1;
  };
  std::vector<HeavyPoint> heavy_points;
  // The time for which this processor works on the task longer than a processor would at most if
  // the points or the nested runs were spread evenly. Points of one dimension are then cut into
  // blocks. Others and nested runs are taken to have the mean length, and nothing is lost if the
  // processor has no more of them than in an even spread.
  RunTime lost = 0;
};
// Returns one entry for each task and kind of processor, the largest lost time first.
std::vector<TaskSpread> task_spreads(const Profile& profile, const std::vector<TimeSpan>& spans);

// Two tasks that use a region and are launched over the same points, some of which run on one node
// for one task and on another node for the other. Each point counts where it ran last.
struct TasksApart {
  std::int32_t task = -1, other = -1;
  // The points of each task, and those that run on different nodes.
  std::int64_t points = 0, apart = 0;
  // The regions that both tasks use, as indices into RunRecord::regions.
  std::vector<std::int32_t> regions;
};
// Returns at most 16 pairs of tasks of the whole run, those with the most points on different nodes
// first.
std::vector<TasksApart> tasks_apart(const RunRecord& record);

}  // namespace groma::profile
