// LaunchEvents: the launches of a recorded run. Launches that are equal are stored once and share a
// number.
#pragma once

#include <legion.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "legion/not_recorded.h"
#include "legion/region_events.h"
#include "legion/task_runs.h"
#include "recording/events.h"

namespace groma::legion {

// The facts about a launch that are known when the program makes it.
struct LaunchedTask {
  app::Events::Shape shape;
  // The numbers of Events::Launch, without the tables of points.
  std::vector<std::int64_t> numbers;
  // The smallest box around the points.
  Rect domain;
  // All boxes of a domain with holes; empty for other domains.
  std::vector<Rect> boxes;
  // The number of points.
  std::int64_t points = 1;
  // The requirements for which a projection functor decides the regions of the points.
  std::vector<std::size_t> projected;
};

// Collects launches until the run ends. A launch whose points get regions from projection functors
// is pending until all its points are mapped. If a trace replays such a launch, no mapper sees its
// points. It is then described by an earlier, equal launch (with the same arguments) whose points
// were seen.
//
// Not thread-safe.
class LaunchEvents {
 public:
  // The number of a launch within the run of its task, and its position in Events::launches.
  using Numbered = std::pair<std::uint64_t, std::uint32_t>;

  // `not_recorded` counts the launches that are left out. It must outlive this object.
  explicit LaunchEvents(NotRecorded& not_recorded) : not_recorded_(not_recorded) {}

  // Returns true if no more launches should be added.
  bool is_full() const { return launched_ >= app::kMaxEventLaunches; }
  // Adds a launch of this task, or of all points of this index launch.
  void add(const LaunchKey& key, const Legion::Task& task, LaunchedTask launch);
  // Returns the requirements of a pending launch for which the regions of its points are still
  // wanted. Empty if the launch is not pending.
  std::vector<std::size_t> projected(const LaunchKey& key) const;
  // Notes the regions that a point of a pending launch got for its projected() requirements.
  void mapped(const LaunchKey& key, const Point& point,
              const std::vector<std::optional<RegionPlace>>& places);
  // Completes all pending launches and sorts the launches of each run.
  void finish();

  // Returns the launches of the run; in order after finish().
  const std::vector<Numbered>& of_run(TaskRun run) const;
  // Writes the launches and their shapes to `events`.
  void add_to(app::Events& events) const;

 private:
  // A kind of launches: those that are equal except for the regions that functors gave to their
  // points.
  struct Alike {
    LaunchedTask launch;
    // The last launch of which all points were mapped, as numbers_of() returns it.
    std::vector<std::uint32_t> seen;
    std::uint64_t used = 0;  // A larger number means that a launch of this kind was made later.
  };
  // The regions of all points for one requirement, in row-major order of the domain.
  using PointPlaces = std::vector<std::optional<RegionPlace>>;
  // A launch of which some points are not mapped yet.
  struct Pending {
    std::shared_ptr<Alike> alike;
    std::int64_t unseen = 0;  // The number of points that are not mapped yet.
    // The places for each projected requirement. Empty: no point has been mapped.
    std::vector<PointPlaces> places;
  };

  // Returns the numbers of the launches that stand for this launch: one, or one for each box of a
  // domain with holes. Launches beyond the limits are left out. `places`: see Pending.
  std::vector<std::uint32_t> numbers_of(const LaunchedTask& launch,
                                        const std::vector<PointPlaces>& places);
  std::optional<std::uint32_t> number_of(app::Events::Shape shape,
                                         std::vector<std::int64_t> numbers);
  // Returns the number of the shape and adds it if it is new. Returns nothing if there are too
  // many.
  std::optional<std::uint32_t> shape_number(app::Events::Shape shape);
  void add_numbers(const LaunchKey& key, const std::vector<std::uint32_t>& numbers);
  // Completes a pending launch with the regions that its points got, or with those of an equal
  // launch.
  void finish(const LaunchKey& key);
  // Completes the oldest pending launches and removes kinds that were not used for long, so that
  // both lists stay within their limits.
  void forget_old();

  NotRecorded& not_recorded_;
  std::vector<app::Events::Shape> shapes_;
  std::vector<app::Events::Launch> launches_;
  // The number of each shape. The key is the shape as text.
  std::map<std::string, std::uint32_t> shape_numbers_;
  std::map<std::pair<std::uint32_t, std::vector<std::int64_t>>, std::uint32_t> launch_numbers_;
  std::unordered_map<TaskRun, std::vector<Numbered>> by_run_;
  // The key is the shape with its arguments as text, and the numbers.
  std::map<std::pair<std::string, std::vector<std::int64_t>>, std::shared_ptr<Alike>> alike_;
  std::map<LaunchKey, Pending> pending_;
  std::deque<LaunchKey> pending_order_;
  std::size_t launched_ = 0;  // The number of launches; each box of a domain with holes counts.
  std::size_t numbers_ = 0;   // The sum of the lengths of `numbers` of all launches_.
};

}  // namespace groma::legion
