// Groups and sorts the rows of a run's timeline for its HTML page, and writes them as JSON for the
// script of the page.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "groma/profile.h"
#include "profile/timeline.h"

namespace groma::profile {

// The colours of spans, as the numbers of CSS variables `--c0`, `--c1` and so on. The first ones
// are for the tasks with the longest time.
inline constexpr std::size_t kTaskColors = 8;
inline constexpr std::size_t kOtherTasksColor = 8, kCopyColor = 9, kReductionColor = 10,
                             kRuntimeColor = 11;

// A lane that is busy for less than this fraction of the run counts as idle.
inline constexpr double kIdleBelow = 0.01;

// A span in a lane of the page. `count` events happen at the same time.
struct PageSpan {
  RunTime begin = 0, end = 0;
  std::int64_t event = -1, count = 1;
};
// One row of the page's timeline.
struct PageLane {
  std::string name;
  // The time in which at least one event happens, and the largest number of events at once.
  RunTime busy = 0;
  std::int64_t most = 1;
  bool is_idle = false;
  std::vector<PageSpan> spans;
};
// Lanes of one kind, such as all GPUs.
struct PageLaneGroup {
  TimelineLane::Kind kind = TimelineLane::Kind::kProcessor;
  std::string title;
  // The lanes, the busiest first. Lanes that are busy for the same whole percentage of the run are
  // in the order of their nodes and numbers.
  std::vector<PageLane> lanes;
};

// Returns the lanes in groups. The group with the busiest lane comes first. Rows of the timeline
// with the same name become one lane. If all lanes are idle, the busiest one is not marked as idle.
std::vector<PageLaneGroup> page_lane_groups(const Profile& profile, Timeline timeline);

// Returns, for each task of the record, the number of its colour.
std::vector<std::size_t> task_colors(const Profile& profile);

// Returns the JSON that the script of the page reads (page_parts.h).
std::string page_lanes_json(const Profile& profile, const std::string& measured,
                            const Timeline& timeline, const std::vector<PageLaneGroup>& groups);

}  // namespace groma::profile
