// Computes task_spreads() and tasks_apart() from the record of a run.
#include "profile/task_spreads.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "profile/words.h"

namespace groma::profile {
namespace {

// What is added up about one task on one kind of processor.
struct SpreadSums {
  // The time of a point and the number of its runs.
  struct OfPoint {
    RunTime time = 0;
    std::int64_t runs = 0;
  };
  // What one processor does for the task.
  struct OfProcessor {
    RunTime busy = 0;
    std::int64_t runs = 0, point_runs = 0;
    std::unordered_map<std::int32_t, RunTime> points;
  };
  std::map<std::int32_t, OfProcessor> by_processor;
  std::unordered_map<std::int32_t, OfPoint> points;
  RunTime time = 0;
  std::int64_t runs = 0, point_runs = 0;
  // True if a point of an index launch launches the task as a single task.
  bool is_nested = false;
};

// Returns true if the event is a single task that a point of an index launch launched before
// anything else.
bool is_launched_by_point(const RunRecord& record, const RunRecord::Event& event) {
  return event.point < 0 && event.after_start && is_index_of(event.after, record.events) &&
         record.events[static_cast<std::size_t>(event.after)].point >= 0;
}

// Returns the coordinate of a point of one dimension, which a record writes as "(3)".
std::optional<std::int64_t> coordinate_of(const std::string& point) {
  constexpr std::size_t kShortest = 3;
  if (point.size() < kShortest) return std::nullopt;
  std::int64_t coordinate = 0;
  const char* const end = point.data() + point.size();
  const auto [next, status] = std::from_chars(point.data() + 1, end, coordinate);
  if (status != std::errc() || next != end - 1) return std::nullopt;
  return coordinate;
}

// Returns the time of the busiest processor if the points of a task, which have one dimension, are
// cut into blocks of neighbours, one for each processor. Returns nullopt if a point has no
// coordinate.
std::optional<RunTime> longest_block(const RunRecord& record, const SpreadSums& sums,
                                     std::int64_t processors) {
  std::vector<std::pair<std::int64_t, RunTime>> sorted;
  for (const auto& [point, sum] : sums.points) {
    const auto coordinate = coordinate_of(record.points[static_cast<std::size_t>(point)]);
    if (!coordinate) return std::nullopt;
    sorted.emplace_back(*coordinate, sum.time);
  }
  std::sort(sorted.begin(), sorted.end());
  const auto count = static_cast<std::int64_t>(sorted.size());
  const std::int64_t blocks = std::min(processors, count);
  RunTime longest = 0, block = 0;
  for (std::int64_t i = 0, last = -1; i < count; ++i) {
    const std::int64_t number = i * blocks / count;
    if (number != last) block = 0;
    last = number;
    add_saturating(block, sorted[static_cast<std::size_t>(i)].second);
    longest = std::max(longest, block);
  }
  return longest;
}

// Lists the points of the processor that works longest on the task.
void list_busiest_points(const SpreadSums::OfProcessor& busiest, TaskSpread* spread) {
  constexpr std::size_t kMaxPoints = 8;
  std::vector<std::pair<RunTime, std::int32_t>> sorted;
  for (const auto& [point, time] : busiest.points) sorted.emplace_back(-time, point);
  std::sort(sorted.begin(), sorted.end());
  spread->busiest_point_count = static_cast<std::int64_t>(sorted.size());
  sorted.resize(std::min(sorted.size(), kMaxPoints));
  for (const auto& [time, point] : sorted) spread->busiest_points.push_back(point);
}

// Lists the points whose runs take longer than those of the others.
void list_heavy_points(const SpreadSums& sums, TaskSpread* spread) {
  constexpr std::size_t kMaxPoints = 16;
  constexpr double kHeavy = 1.25;
  const double mean =
      static_cast<double>(sums.time) / static_cast<double>(std::max<std::int64_t>(1, sums.runs));
  for (const auto& [point, sum] : sums.points) {
    const double weight = static_cast<double>(sum.time) /
                          static_cast<double>(std::max<std::int64_t>(1, sum.runs)) /
                          std::max(mean, 1.0);
    if (weight >= kHeavy) spread->heavy_points.push_back({point, weight});
  }
  std::sort(spread->heavy_points.begin(), spread->heavy_points.end(),
            [](const auto& a, const auto& b) {
              return std::pair(-a.weight, a.point) < std::pair(-b.weight, b.point);
            });
  spread->heavy_points.resize(std::min(spread->heavy_points.size(), kMaxPoints));
}

// Computes the members of `spread` that say how even the spread is. The other members are set.
void compare_with_even_spread(const RunRecord& record, const SpreadSums& sums, TaskSpread* spread) {
  spread->used = static_cast<std::int64_t>(sums.by_processor.size());
  const auto busiest =
      std::max_element(sums.by_processor.begin(), sums.by_processor.end(),
                       [](const auto& a, const auto& b) { return a.second.busy < b.second.busy; });
  spread->busiest = busiest->first;
  if (sums.points.empty() && !sums.is_nested) return;
  spread->points = static_cast<std::int64_t>(sums.points.size());
  std::int64_t parts = spread->points,
               own = static_cast<std::int64_t>(busiest->second.points.size());
  if (parts == 0) {
    spread->nested_runs = parts = sums.runs;
    own = busiest->second.runs;
  } else {
    const std::string& point = record.points[static_cast<std::size_t>(sums.points.begin()->first)];
    spread->dimensions = 1 + static_cast<int>(std::count(point.begin(), point.end(), ','));
    list_busiest_points(busiest->second, spread);
    std::size_t on_processors = 0;
    for (const auto& [processor, its] : sums.by_processor) on_processors += its.points.size();
    spread->counts_all_launches = on_processors > sums.points.size();
    if (spread->counts_all_launches) {
      spread->points = parts = sums.point_runs;
      spread->busiest_point_count = own = busiest->second.point_runs;
    }
    list_heavy_points(sums, spread);
  }
  if (spread->dimensions == 1 && !spread->counts_all_launches) {
    if (const auto longest = longest_block(record, sums, spread->processors)) {
      spread->lost = std::max<RunTime>(0, busiest->second.busy - *longest);
      return;
    }
  }
  // The parts of the busiest processor in an even spread.
  const std::int64_t most = (parts + spread->processors - 1) / spread->processors;
  if (own <= most) return;
  const double even =
      static_cast<double>(sums.time) / static_cast<double>(parts) * static_cast<double>(most);
  spread->lost = std::max<RunTime>(0, busiest->second.busy - std::llround(even));
}

}  // namespace

std::vector<TaskSpread> task_spreads(const Profile& profile, const std::vector<TimeSpan>& spans) {
  const RunRecord& record = *profile.record;
  // By the task and the number of the kind of processor.
  std::map<std::pair<std::int32_t, std::int32_t>, SpreadSums> sums;
  const std::vector<std::int32_t> kinds = kind_numbers(record);
  for (const RunRecord::Event& event : record.events) {
    if (event.kind != RunRecord::Event::Kind::kTask || !is_index_of(event.name, record.tasks) ||
        !is_index_of(event.where, record.processors)) {
      continue;
    }
    const RunTime time = time_within(spans, event.start, event.end);
    if (time <= 0) continue;
    SpreadSums& sum = sums[{event.name, kinds[static_cast<std::size_t>(event.where)]}];
    SpreadSums::OfProcessor& own = sum.by_processor[event.where];
    add_saturating(own.busy, time);
    add_saturating(sum.time, time);
    if (event.continues < 0) {
      ++own.runs;
      ++sum.runs;
    }
    sum.is_nested = sum.is_nested || is_launched_by_point(record, event);
    if (!is_index_of(event.point, record.points)) continue;
    SpreadSums::OfPoint& of_point = sum.points[event.point];
    add_saturating(of_point.time, time);
    of_point.runs += event.continues < 0 ? 1 : 0;
    own.point_runs += event.continues < 0 ? 1 : 0;
    sum.point_runs += event.continues < 0 ? 1 : 0;
    add_saturating(own.points[event.point], time);
  }
  std::vector<TaskSpread> spreads;
  for (const auto& [key, sum] : sums) {
    TaskSpread& spread = spreads.emplace_back();
    spread.task = key.first;
    spread.kind = record.processors[static_cast<std::size_t>(key.second)].kind;
    spread.processors = std::count(kinds.begin(), kinds.end(), key.second);
    compare_with_even_spread(record, sum, &spread);
  }
  std::stable_sort(spreads.begin(), spreads.end(),
                   [](const TaskSpread& a, const TaskSpread& b) { return a.lost > b.lost; });
  return spreads;
}

namespace {

// Returns the node of each point of each task, by the index of the task.
std::map<std::int32_t, std::unordered_map<std::int32_t, std::int64_t>> nodes_of_points(
    const RunRecord& record) {
  std::map<std::int32_t, std::unordered_map<std::int32_t, std::int64_t>> nodes;
  for (const RunRecord::Event& event : record.events) {
    if (event.kind != RunRecord::Event::Kind::kTask || !is_index_of(event.name, record.tasks) ||
        !is_index_of(event.point, record.points) || !is_index_of(event.where, record.processors)) {
      continue;
    }
    nodes[event.name][event.point] = record.processors[static_cast<std::size_t>(event.where)].node;
  }
  return nodes;
}

// Returns the regions that the task uses, sorted, by the record's description of the task.
std::vector<std::int32_t> regions_of(const RunRecord& record, std::int32_t task) {
  std::vector<std::int32_t> regions;
  if (!is_index_of(task, record.descriptions)) return regions;
  for (const auto& each : record.descriptions[static_cast<std::size_t>(task)].requirements) {
    if (is_index_of(each.region, record.regions)) regions.push_back(each.region);
  }
  std::sort(regions.begin(), regions.end());
  regions.erase(std::unique(regions.begin(), regions.end()), regions.end());
  return regions;
}

}  // namespace

std::vector<TasksApart> tasks_apart(const RunRecord& record) {
  constexpr std::size_t kMaxPairs = 16, kMaxTasks = 64;
  std::vector<TasksApart> pairs;
  auto nodes = nodes_of_points(record);
  while (nodes.size() > kMaxTasks) nodes.erase(std::prev(nodes.end()));
  std::map<std::int32_t, std::vector<std::int32_t>> regions;
  for (const auto& [task, points] : nodes) regions[task] = regions_of(record, task);
  for (auto task = nodes.begin(); task != nodes.end(); ++task) {
    const std::vector<std::int32_t>& own = regions[task->first];
    for (auto other = std::next(task); other != nodes.end(); ++other) {
      if (other->second.size() != task->second.size()) continue;
      TasksApart pair{
          task->first, other->first, static_cast<std::int64_t>(task->second.size()), 0, {}};
      const std::vector<std::int32_t>& others = regions[other->first];
      std::set_intersection(own.begin(), own.end(), others.begin(), others.end(),
                            std::back_inserter(pair.regions));
      if (pair.regions.empty()) continue;
      bool same_points = true;
      for (const auto& [point, node] : task->second) {
        const auto found = other->second.find(point);
        same_points = same_points && found != other->second.end();
        if (!same_points) break;
        pair.apart += found->second != node ? 1 : 0;
      }
      if (same_points && pair.apart > 0) pairs.push_back(std::move(pair));
    }
  }
  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const TasksApart& a, const TasksApart& b) { return a.apart > b.apart; });
  pairs.resize(std::min(pairs.size(), kMaxPairs));
  return pairs;
}

}  // namespace groma::profile
