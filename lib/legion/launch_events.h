// LaunchEvents: records the task launches of a run. Launches that are equal are stored once and
// share a number.
#pragma once

#include <legion.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "legion/not_recorded.h"
#include "legion/region_events.h"
#include "legion/task_runs.h"
#include "recording/events.h"

namespace groma::legion {

// The facts about a task launch that are known when the program makes it.
struct LaunchFacts {
  app::Events::LaunchShape shape;
  // The numbers that describe the launch (Events::Launch): domain and colours. The tables with the
  // regions of its points are not known yet.
  std::vector<std::int64_t> numbers;
  // The smallest box that contains all points of the launch.
  Rect domain;
  // All boxes of a launch domain with holes. Empty for other domains.
  std::vector<Rect> boxes;
  // The number of the domain with holes in Events::sparse_domains. -1: the domain has no holes, or
  // each of its boxes is recorded as a launch, because there are too many points or boxes.
  std::int32_t sparse_domain = -1;
  // The number of points of the launch; 1 for a single task.
  std::int64_t points = 1;
  // The positions of those region requirements for which a projection functor decides the regions
  // of the points.
  std::vector<std::size_t> projected;
};

// Collects task launches until the run ends. A launch whose points get regions from projection
// functors is pending until all its points are mapped. If a trace replays such a launch, no mapper
// sees its points. It is then described by an earlier, equal launch (with the same arguments) whose
// points were seen.
//
// Not thread-safe.
class LaunchEvents {
 public:
  // A recorded launch: its number within the run of its task, and its index in Events::launches.
  using NumberedLaunch = std::pair<std::uint64_t, std::uint32_t>;

  // `not_recorded` counts the launches that are left out. It must outlive this object.
  explicit LaunchEvents(NotRecorded& not_recorded) : not_recorded_(not_recorded) {}

  // Returns true if the limit on recorded launches is reached.
  bool is_full() const { return launched_ >= app::kMaxEventLaunches; }
  // Adds the launch of a single task, or of all points of an index launch.
  void add(const LaunchKey& key, const Legion::Task& task, LaunchFacts launch);
  // Returns the positions of those requirements of a pending launch for which the regions of its
  // points are still wanted. Empty if the launch is not pending.
  std::vector<std::size_t> unresolved_requirements(const LaunchKey& key) const;
  // Notes the regions that one point of a pending launch got. `places` has one entry for each
  // requirement that unresolved_requirements() returns.
  void add_point_regions(const LaunchKey& key, const Point& point,
                         const std::vector<std::optional<RecordedRegionPath>>& places);
  // Completes all pending launches, at the end of the run, and sorts the launches of each task run.
  void finish();

  // Returns the launches that one run of a task made. They are in order once finish() was called.
  const std::vector<NumberedLaunch>& launches_of_run(TaskRun run) const;
  // Adds the launches and their shapes to `events`.
  void add_to(app::Events& events) const;

 private:
  // A class of launches that are equal except for the regions that projection functors gave to
  // their points.
  struct LaunchClass {
    LaunchFacts launch;
    // The indices in launches_ that represent the latest launch of this class of which all points
    // were mapped. Empty if there is none.
    std::vector<std::uint32_t> seen;
    // The value of launched_ when a launch of this class was last made. A larger value means a
    // later launch.
    std::uint64_t used = 0;
  };
  // The regions that all points of a launch got for one requirement, in row-major order of the
  // domain.
  using PointRegions = std::vector<std::optional<RecordedRegionPath>>;
  // A launch of which some points have not been mapped yet.
  struct PendingLaunch {
    std::shared_ptr<LaunchClass> alike;
    // The number of points that are not mapped yet.
    std::int64_t unseen = 0;
    // The regions of all points, for each projected requirement. Empty if no point has been mapped.
    std::vector<PointRegions> places;
  };

  // Records the launch and returns the indices in launches_ of the recorded launches that represent
  // it: one, or one for each box of a domain with too many points. Launches beyond the limits are
  // left out. `places`: the regions of all points, for each requirement whose regions a projection
  // functor decides.
  std::vector<std::uint32_t> record_launch(const LaunchFacts& launch,
                                           const std::vector<PointRegions>& places);
  std::optional<std::uint32_t> number_of(app::Events::LaunchShape shape, std::int32_t sparse_domain,
                                         std::vector<std::int64_t> numbers);
  // Returns the number of the domain with these boxes in Events::sparse_domains, or -1 if there is
  // no room for it.
  std::int32_t sparse_domain_number(const LaunchFacts& launch);
  // Returns the number of the launch shape and adds the shape if it is new. Returns nothing if
  // there are too many shapes.
  std::optional<std::uint32_t> shape_number(app::Events::LaunchShape shape);
  void add_numbers(const LaunchKey& key, const std::vector<std::uint32_t>& numbers);
  // Completes a pending launch with the regions that its points got, or with those of an earlier,
  // equal launch.
  void finish(const LaunchKey& key);
  // Completes the oldest pending launches and removes classes of launches that were not used for
  // long, so that both lists stay within their limits.
  void apply_launch_limits();

  NotRecorded& not_recorded_;
  std::vector<app::Events::LaunchShape> shapes_;
  std::vector<app::Events::Launch> launches_;
  // The number of each launch shape. The key is the shape as text.
  std::map<std::string, std::uint32_t> shape_numbers_;
  // The number of each launch, by its shape, its sparse domain and its numbers.
  std::map<std::tuple<std::uint32_t, std::int32_t, std::vector<std::int64_t>>, std::uint32_t>
      launch_numbers_;
  // The boxes of domains with holes, and the number of each list of boxes.
  std::vector<std::vector<Rect>> sparse_domains_;
  std::map<std::vector<std::int64_t>, std::int32_t> sparse_domain_numbers_;
  // The number of boxes in sparse_domains_, and of the points in the boxes around them.
  std::size_t sparse_boxes_ = 0;
  std::int64_t sparse_points_ = 0;
  std::unordered_map<TaskRun, std::vector<NumberedLaunch>> by_run_;
  // The classes of launches. The key is the shape with its arguments as text, and the numbers of
  // the launch.
  std::map<std::pair<std::string, std::vector<std::int64_t>>, std::shared_ptr<LaunchClass>> alike_;
  std::map<LaunchKey, PendingLaunch> pending_;
  std::deque<LaunchKey> pending_order_;
  // The number of launches that were given to add(). Each box counts as one if a domain is recorded
  // as one launch for each box.
  std::size_t launched_ = 0;
  // The number of all integers in launches_: the sum of the lengths of their `numbers`.
  std::size_t numbers_ = 0;
};

}  // namespace groma::legion
