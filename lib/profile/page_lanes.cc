// Groups, sorts and folds the rows of the timeline for the HTML page, and writes them as JSON.
#include "profile/page_lanes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>

#include "base/append_format.h"
#include "profile/data_streams.h"
#include "profile/html.h"
#include "profile/words.h"

namespace groma::profile {
namespace {

// Limit on the intervals of the measured phase that the page marks.
constexpr std::size_t kMaxMarkedSpans = 500;

// Returns the title under which the page groups a lane.
std::string group_title(const Profile& profile, const TimelineLane& lane) {
  switch (lane.kind) {
    case TimelineLane::Kind::kProcessor: {
      for (const Profile::Kind& kind : profile.kinds) {
        if (kind.kind != lane.processor_kind) continue;
        return fmt::format("{} processors: {} of {} ran tasks", kind.kind, kind.used,
                           kind.processors);
      }
      return lane.processor_kind + " processors";
    }
    case TimelineLane::Kind::kLink:
      return "Copies over channels between memories";
    case TimelineLane::Kind::kMemory:
      return "Copies within a memory, or over an unknown channel";
    case TimelineLane::Kind::kRuntime:
      break;
  }
  return "Runtime: launching and mapping tasks";
}

// Turns spans that may overlap into spans that do not, each with the number of the events at that
// time. Such a span shows the event that began first.
std::vector<PageSpan> count_overlaps(const std::vector<PageSpan>& spans) {
  struct Change {
    RunTime time;
    bool begins;
    std::int64_t event;
  };
  std::vector<Change> changes;
  for (const PageSpan& span : spans) {
    changes.push_back({span.begin, true, span.event});
    changes.push_back({span.end, false, span.event});
  }
  std::stable_sort(changes.begin(), changes.end(),
                   [](const Change& a, const Change& b) { return a.time < b.time; });
  std::vector<PageSpan> counted;
  std::map<std::int64_t, std::int64_t> running;
  std::int64_t count = 0;
  RunTime since = 0;
  for (const Change& change : changes) {
    if (count > 0 && change.time > since) {
      counted.push_back({since, change.time, running.begin()->first, count});
    }
    since = change.time;
    const std::int64_t one = change.begins ? 1 : -1;
    count += one;
    if ((running[change.event] += one) == 0) running.erase(change.event);
  }
  return counted;
}

// Sets the figures of a lane whose spans are complete.
void finish(PageLane* lane, bool may_overlap) {
  if (may_overlap) lane->spans = count_overlaps(lane->spans);
  for (const PageSpan& span : lane->spans) {
    add_saturating(lane->busy, span.end - span.begin);
    lane->most = std::max(lane->most, span.count);
  }
}

// Writes the lanes as JSON. Labels and details of spans are written once, and spans refer to them.
class LanesJsonWriter {
 public:
  LanesJsonWriter(const Profile& profile, const Timeline& timeline)
      : profile_(profile),
        record_(*profile.record),
        timeline_(timeline),
        colors_(task_colors(profile)) {}

  std::string write(const std::string& measured, const std::vector<PageLaneGroup>& groups) {
    append_format(&text_,
                  "{{\"total\":{},\"groups\":[{{\"title\":\"What the run waited for\",\"lanes\":[",
                  profile_.total);
    path_lane();
    text_ += "]}";
    for (const PageLaneGroup& group : groups) {
      append_format(&text_, ",\n{{\"title\":{},\"lanes\":[", script_json(group.title));
      for (const PageLane& lane : group.lanes) {
        if (&lane != group.lanes.data()) text_ += ",\n";
        this->lane(lane, group.kind == TimelineLane::Kind::kRuntime);
      }
      text_ += "]}";
    }
    text_ += "],\n\"labels\":[";
    list(labels_);
    text_ += "],\n\"details\":[";
    list(details_);
    text_ += "],\n\"memories\":[";
    list(memories_);
    text_ += "]";
    if (!measured.empty()) phase(measured);
    text_ += "}";
    return std::move(text_);
  }

 private:
  void list(const std::vector<std::string>& all) {
    for (const std::string& one : all)
      append_format(&text_, "{}{}", &one == all.data() ? "" : ",", one);
  }

  // Returns the index of a label, which is added if it is new.
  std::size_t label(std::string words, std::size_t color) {
    const auto [found, is_new] = label_numbers_.try_emplace({color, std::move(words)}, 0);
    if (is_new) {
      found->second = labels_.size();
      labels_.push_back(fmt::format("[{},{}]", script_json(found->first.second), color));
    }
    return found->second;
  }

  // Returns the index of an event's label. In the lane of a runtime processor the event is mapped.
  std::size_t label_of(std::int64_t event, bool is_mapped) {
    if (event < 0) return label("the end of the run", kRuntimeColor);
    const RunRecord::Event& one = record_.events[static_cast<std::size_t>(event)];
    const bool is_task = one.kind == RunRecord::Event::Kind::kTask;
    if (is_mapped) {
      return label(is_task ? "mapping " + task_name(record_, one.name) : "starting a copy",
                   kRuntimeColor);
    }
    if (is_task) {
      const bool is_known = one.name >= 0 && static_cast<std::size_t>(one.name) < colors_.size();
      return label(task_name(record_, one.name),
                   is_known ? colors_[static_cast<std::size_t>(one.name)] : kOtherTasksColor);
    }
    const bool copy = one.kind == RunRecord::Event::Kind::kCopy;
    return label((copy ? "copy of " : "reduction of ") + region_name(record_, one.region),
                 copy ? kCopyColor : kReductionColor);
  }

  // Returns the index of a memory in the list of names, to which it is added if it is new. Returns
  // -1 for an unknown memory.
  std::int64_t memory(std::int32_t number) {
    if (number < 0 || static_cast<std::size_t>(number) >= record_.memories.size()) return -1;
    const auto [found, is_new] =
        memory_numbers_.try_emplace(number, static_cast<std::int64_t>(memories_.size()));
    if (is_new) {
      memories_.push_back(script_json(name_of(record_.memories[static_cast<std::size_t>(number)])));
    }
    return found->second;
  }

  // Returns the index of what the tooltip of an event adds to its label: the point of a task, or
  // the memories and the bytes of a copy. Returns -1 if there is nothing.
  std::int64_t detail_of(std::int64_t event) {
    if (event < 0) return -1;
    const RunRecord::Event& one = record_.events[static_cast<std::size_t>(event)];
    const auto add = [&](std::string json) {
      const auto [found, is_new] =
          detail_numbers_.try_emplace(std::move(json), static_cast<std::int64_t>(details_.size()));
      if (is_new) details_.push_back(found->first);
      return found->second;
    };
    if (one.kind == RunRecord::Event::Kind::kTask) {
      const auto point = static_cast<std::size_t>(one.point);
      if (one.point < 0 || point >= record_.points.size()) return -1;
      return add(script_json(record_.points[point]));
    }
    return add(fmt::format("[{},{},{}]", memory(one.from), memory(one.where), one.bytes));
  }

  void span(bool is_first, RunTime gap, RunTime length, std::size_t label, bool on_path,
            std::int64_t event, std::int64_t detail) {
    append_format(&text_, "{}{},{},{},{:d},{},{}", is_first ? "" : ",", gap, length, label, on_path,
                  event, detail);
  }

  void lane(const PageLane& lane, bool is_runtime) {
    append_format(&text_, "{{\"name\":{},\"busy\":{:.6f},\"idle\":{:d},\"most\":{},\"spans\":[",
                  script_json(lane.name), fraction_of(lane.busy, profile_.total), lane.is_idle,
                  lane.most);
    RunTime at = 0;
    // The begin of a span is written as the gap since the previous span, which keeps the numbers
    // short. The mapping of a task is never marked as part of the critical path, because the row of
    // the critical path itself shows the time of the runtime.
    for (const PageSpan& each : lane.spans) {
      span(&each == lane.spans.data(), each.begin - at, each.end - each.begin,
           label_of(each.event, is_runtime),
           !is_runtime && timeline_.on_path[static_cast<std::size_t>(each.event)], each.event,
           detail_of(each.event));
      at = each.end;
    }
    text_ += "]";
    if (lane.most > 1) {
      text_ += ",\"counts\":[";
      for (const PageSpan& each : lane.spans) {
        append_format(&text_, "{}{}", &each == lane.spans.data() ? "" : ",", each.count);
      }
      text_ += "]";
    }
    text_ += "}";
  }

  void path_lane() {
    text_ += "{\"name\":\"critical path\",\"busy\":1,\"idle\":0,\"most\":1,\"spans\":[";
    RunTime at = 0;
    bool is_first = true;
    for (const std::size_t i : longest_path_segments(profile_, kMaxPageEvents)) {
      const Profile::Segment& segment = profile_.path[i];
      const bool is_runtime = segment.doing == Profile::Doing::kRuntime;
      span(is_first, segment.begin - at, segment.end - segment.begin,
           label_of(segment.event, is_runtime), true, segment.event, detail_of(segment.event));
      at = segment.end;
      is_first = false;
    }
    text_ += "]}";
  }

  // Writes the intervals of the measured phase.
  void phase(const std::string& measured) {
    append_format(&text_, ",\n\"measured\":{{\"name\":{},\"spans\":[", script_json(measured));
    const std::vector<TimeSpan> spans = measured_spans(profile_, measured);
    for (std::size_t i = 0; i < std::min(spans.size(), kMaxMarkedSpans); ++i) {
      append_format(&text_, "{}{},{}", i == 0 ? "" : ",", spans[i].begin, spans[i].end);
    }
    text_ += "]}";
  }

  const Profile& profile_;
  const RunRecord& record_;
  const Timeline& timeline_;
  const std::vector<std::size_t> colors_;
  std::map<std::pair<std::size_t, std::string>, std::size_t> label_numbers_;
  std::map<std::string, std::int64_t> detail_numbers_;
  std::map<std::int32_t, std::int64_t> memory_numbers_;
  std::vector<std::string> labels_, details_, memories_;
  std::string text_;
};

}  // namespace

std::vector<PageLaneGroup> page_lane_groups(const Profile& profile, Timeline timeline) {
  std::vector<PageLaneGroup> groups;
  // The index of each group by its kind and title, and of each lane in its group by its name.
  std::map<std::pair<TimelineLane::Kind, std::string>, std::size_t> group_numbers;
  std::map<std::pair<std::size_t, std::string>, std::size_t> lane_numbers;
  std::set<std::pair<std::size_t, std::size_t>> overlapping;
  for (TimelineLane& row : timeline.lanes) {
    const std::string title = group_title(profile, row);
    const auto [group, is_new_group] = group_numbers.try_emplace({row.kind, title}, groups.size());
    if (is_new_group) groups.push_back({row.kind, title, {}});
    std::vector<PageLane>& lanes = groups[group->second].lanes;
    const auto [lane, is_new] = lane_numbers.try_emplace({group->second, row.name}, lanes.size());
    if (is_new) {
      lanes.emplace_back().name = row.name;
    } else {
      overlapping.emplace(group->second, lane->second);
    }
    for (const EventSpan& span : row.spans) {
      lanes[lane->second].spans.push_back({span.begin, span.end, span.event});
    }
    row.spans = {};
  }
  bool is_any_busy = false;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    std::vector<PageLane>& lanes = groups[g].lanes;
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      finish(&lanes[i], overlapping.contains({g, i}));
      lanes[i].is_idle = fraction_of(lanes[i].busy, profile.total) < kIdleBelow;
      is_any_busy = is_any_busy || !lanes[i].is_idle;
    }
    // Lanes that show the same percentage stay in the order of nodes and numbers.
    const auto percent = [&](const PageLane& lane) {
      return std::llround(100 * fraction_of(lane.busy, profile.total));
    };
    std::stable_sort(lanes.begin(), lanes.end(),
                     [&](const PageLane& a, const PageLane& b) { return percent(a) > percent(b); });
  }
  const auto most_busy = [](const PageLaneGroup& group) {
    RunTime most = 0;
    for (const PageLane& lane : group.lanes) most = std::max(most, lane.busy);
    return most;
  };
  std::stable_sort(
      groups.begin(), groups.end(),
      [&](const PageLaneGroup& a, const PageLaneGroup& b) { return most_busy(a) > most_busy(b); });
  if (!is_any_busy && !groups.empty()) groups.front().lanes.front().is_idle = false;
  return groups;
}

std::vector<std::size_t> task_colors(const Profile& profile) {
  std::vector<std::size_t> colors(profile.record->tasks.size(), kOtherTasksColor);
  std::size_t next = 0;
  // A task that runs on two kinds of processors has two entries in the profile.
  for (const Profile::Task& task : profile.tasks) {
    if (task.task < 0 || static_cast<std::size_t>(task.task) >= colors.size()) continue;
    std::size_t& color = colors[static_cast<std::size_t>(task.task)];
    if (color == kOtherTasksColor && next < kTaskColors) color = next++;
  }
  return colors;
}

std::string page_lanes_json(const Profile& profile, const std::string& measured,
                            const Timeline& timeline, const std::vector<PageLaneGroup>& groups) {
  return LanesJsonWriter(profile, timeline).write(measured, groups);
}

}  // namespace groma::profile
