// Arranges the events of a run in rows (lanes) of spans that do not overlap, for the HTML page and
// the trace.
#include "profile/timeline.h"

#include <algorithm>
#include <map>

#include "profile/words.h"

namespace groma::profile {
namespace {

using Event = RunRecord::Event;

bool is_task(const Event& event) { return event.kind == Event::Kind::kTask; }

// Builds the rows of a run's timeline from at most `most` of its events.
class LaneMaker {
 public:
  LaneMaker(const Profile& profile, std::size_t most)
      : profile_(profile), record_(*profile.record), most_(most) {}

  // Marks the events on the critical path, distributes the chosen events over the rows of the
  // timeline, and sorts each row by time. Copies without known links may overlap and are spread
  // over several rows.
  Timeline make() {
    lanes_.on_path.resize(record_.events.size());
    for (const Profile::Segment& segment : profile_.path) {
      // A segment in which the runtime worked has the number of the event that waited for the
      // runtime. That event is on the critical path only if it has a segment of its own.
      if (segment.doing != Profile::Doing::kRuntime) {
        lanes_.on_path[static_cast<std::size_t>(segment.event)] = true;
      }
    }
    for (std::int64_t event : pick()) add(event);
    for (auto& [key, lane] : made_) {
      std::sort(lane.spans.begin(), lane.spans.end(),
                [](const EventSpan& a, const EventSpan& b) { return a.begin < b.begin; });
      if (lane.kind == TimelineLane::Kind::kMemory) {
        split(lane);
      } else {
        lanes_.lanes.push_back(std::move(lane));
      }
    }
    return std::move(lanes_);
  }

 private:
  // Limits a time to the length of the run.
  RunTime clip(RunTime time) const { return std::clamp<RunTime>(time, 0, profile_.total); }
  // Returns how long an event takes within the run.
  RunTime length(std::int64_t event) const {
    const Event& one = record_.events[static_cast<std::size_t>(event)];
    return std::max<RunTime>(0, clip(one.end) - clip(one.start));
  }

  // Returns the numbers of the events to draw. If there are too many events, takes those on the
  // critical path first and then the longest ones, and records how many are left out.
  std::vector<std::int64_t> pick() {
    std::vector<std::int64_t> events(record_.events.size());
    for (std::size_t i = 0; i < events.size(); ++i) events[i] = static_cast<std::int64_t>(i);
    if (events.size() <= most_) return events;
    const auto rank = [&](std::int64_t event) {
      return std::tuple(!lanes_.on_path[static_cast<std::size_t>(event)], -length(event), event);
    };
    const auto middle = events.begin() + static_cast<std::ptrdiff_t>(most_);
    std::nth_element(events.begin(), middle, events.end(),
                     [&](std::int64_t a, std::int64_t b) { return rank(a) < rank(b); });
    lanes_.left_out = events.end() - middle;
    for (auto i = middle; i != events.end(); ++i) {
      lanes_.longest_left_out = std::max(lanes_.longest_left_out, length(*i));
    }
    events.resize(most_);
    return events;
  }

  // Returns true if `number` is a valid index of the list. A record from another process may hold
  // invalid ones.
  template <typename List>
  static bool within(std::int64_t number, const List& list) {
    return number >= 0 && number < static_cast<std::int64_t>(list.size());
  }

  // Adds a span to the row with this kind, node and number, which is created if necessary. `name()`
  // returns the name of a new row. Empty spans are dropped.
  template <typename Name>
  void put(TimelineLane::Kind kind, std::int64_t node, std::int64_t number, const Name& name,
           EventSpan span) {
    span.begin = clip(span.begin);
    span.end = clip(span.end);
    if (span.begin >= span.end) return;
    const auto [found, is_new] = made_.try_emplace({node, kind, number});
    TimelineLane& lane = found->second;
    if (is_new) {
      lane.kind = kind;
      lane.node = node;
      lane.name = name();
      if (kind == TimelineLane::Kind::kProcessor) {
        lane.processor_kind = record_.processors[static_cast<std::size_t>(number)].kind;
      }
    }
    lane.spans.push_back(span);
  }

  // Adds an event to the rows that it belongs to. A task belongs to the rows of its processor and
  // of the runtime processor that mapped it, and a copy to the row of each of its links. A copy
  // without known links belongs to a row of its target memory.
  void add(std::int64_t number) {
    const Event& event = record_.events[static_cast<std::size_t>(number)];
    const EventSpan span{number, event.start, event.end};
    if (is_task(event)) {
      if (!within(event.where, record_.processors)) return;
      const auto& processor = record_.processors[static_cast<std::size_t>(event.where)];
      put(
          TimelineLane::Kind::kProcessor, processor.node, event.where,
          [&] { return name_of(processor); }, span);
      put(TimelineLane::Kind::kRuntime, processor.node, 0,
          [&] { return name_of_runtime_processor(processor.node); },
          {number, event.mapping, event.mapped});
      return;
    }
    bool has_link = false;
    if (within(event.route, record_.routes)) {
      for (std::int32_t l : record_.routes[static_cast<std::size_t>(event.route)]) {
        if (!within(l, record_.links)) continue;
        has_link = true;
        const auto& link = record_.links[static_cast<std::size_t>(l)];
        put(
            TimelineLane::Kind::kLink, link.node, l, [&] { return name_of(link); }, span);
      }
    }
    if (has_link || !within(event.where, record_.memories)) return;
    const auto& memory = record_.memories[static_cast<std::size_t>(event.where)];
    // Copies within a memory and copies into it have different rows.
    const bool inside = event.from == event.where;
    const std::int64_t number_in_kind = 2 * std::int64_t{event.where} + (inside ? 0 : 1);
    put(
        TimelineLane::Kind::kMemory, memory.node, number_in_kind,
        [&] { return (inside ? "inside " : "into ") + name_of(memory); }, span);
  }

  // Splits a row of copies without known links, which may overlap, into at most kRows rows without
  // overlap. Copies that do not fit are left out.
  void split(const TimelineLane& lane) {
    constexpr std::size_t kRows = 64;
    std::vector<TimelineLane> rows;
    // Each copy goes to the first row that is free at its begin.
    for (const EventSpan& span : lane.spans) {
      auto row = std::find_if(rows.begin(), rows.end(), [&](const TimelineLane& one) {
        return one.spans.back().end <= span.begin;
      });
      if (row == rows.end()) {
        if (rows.size() == kRows) {
          ++lanes_.left_out;
          lanes_.longest_left_out = std::max(lanes_.longest_left_out, span.end - span.begin);
          continue;
        }
        rows.push_back({lane.kind, lane.name, lane.node, {}, {}});
        row = rows.end() - 1;
      }
      row->spans.push_back(span);
    }
    for (TimelineLane& row : rows) lanes_.lanes.push_back(std::move(row));
  }

  const Profile& profile_;
  const RunRecord& record_;
  const std::size_t most_;
  Timeline lanes_;
  std::map<std::tuple<std::int64_t, TimelineLane::Kind, std::int64_t>, TimelineLane> made_;
};

}  // namespace

Timeline make_timeline(const Profile& profile, std::size_t most) {
  return LaneMaker(profile, most).make();
}

// If the critical path has too many segments, the shortest ones are dropped.
std::vector<std::size_t> longest_path_segments(const Profile& profile, std::size_t most) {
  std::vector<std::size_t> segments(profile.path.size());
  for (std::size_t i = 0; i < segments.size(); ++i) segments[i] = i;
  if (segments.size() <= most) return segments;
  const auto rank = [&](std::size_t i) {
    return std::pair(profile.path[i].begin - profile.path[i].end, i);
  };
  std::nth_element(segments.begin(), segments.begin() + static_cast<std::ptrdiff_t>(most),
                   segments.end(), [&](std::size_t a, std::size_t b) { return rank(a) < rank(b); });
  segments.resize(most);
  std::sort(segments.begin(), segments.end());
  return segments;
}

// The run is divided into `most` intervals of equal length. For each interval, only the largest
// number of bytes in a memory is kept, so that a short peak stays visible.
std::vector<std::vector<AllocatedBytesAtTime>> allocated_bytes_over_time(const Profile& profile,
                                                                         std::size_t most) {
  const RunRecord& record = *profile.record;
  std::vector<std::vector<AllocatedBytesAtTime>> levels(record.memories.size());
  std::vector<std::int64_t> used(levels.size()), bucket(levels.size(), -1);
  const double scale =
      profile.total > 0 ? static_cast<double>(most) / static_cast<double>(profile.total) : 0;
  for (const RunRecord::Allocation& each : record.allocations) {
    if (each.memory < 0 || static_cast<std::size_t>(each.memory) >= levels.size()) continue;
    const auto m = static_cast<std::size_t>(each.memory);
    const RunTime time = std::clamp<RunTime>(each.time, 0, profile.total);
    add_saturating(used[m], each.bytes);
    const auto part = static_cast<std::int64_t>(static_cast<double>(time) * scale);
    if (part != bucket[m]) {
      levels[m].push_back({time, used[m]});
      bucket[m] = part;
    } else if (used[m] > levels[m].back().bytes) {
      levels[m].back().bytes = used[m];
    }
  }
  // The last entry of each list is the number of bytes at the end of the run.
  for (std::size_t m = 0; m < levels.size(); ++m) {
    if (!levels[m].empty()) levels[m].push_back({profile.total, used[m]});
  }
  return levels;
}

}  // namespace groma::profile
