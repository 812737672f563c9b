// Finds out what each event of a measured run waited for. causes.h gives the rules.
#include "profile/causes.h"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>

namespace groma::profile {
namespace {

using Event = RunRecord::Event;
using Use = MeasuredEvent::InstanceUse;

// At least this many of the latest events that use an instance are examined as possible causes.
constexpr std::size_t kLookedAt = 64;

// Returns true if two uses of an instance conflict: they share a field and one of them writes.
bool conflict(const Use& a, const Use& b) {
  return (a.writes || b.writes) && (a.fields & b.fields) != 0;
}

// Sorts the events of one measured run and finds their causes. Each object serves only one run.
class Finder {
 public:
  Finder(std::vector<MeasuredEvent> events, std::vector<Launch> launches)
      : events_(std::move(events)), launches_(std::move(launches)) {
    std::sort(launches_.begin(), launches_.end());
  }

  // Fills the record of a run: splits the tasks that launch others into several events, sorts all
  // events by their start, and finds the cause of each event.
  void find(RunRecord& record) {
    split_launching_tasks();
    std::stable_sort(events_.begin(), events_.end(), [](const auto& a, const auto& b) {
      return std::pair(a.event.start, a.event.end) < std::pair(b.event.start, b.event.end);
    });
    for (std::size_t i = 0; i < events_.size(); ++i) {
      ends_.emplace_back(events_[i].event.end, static_cast<std::int64_t>(i));
    }
    std::sort(ends_.begin(), ends_.end());
    for (const MeasuredEvent& each : events_) {
      if (is_task(each.event)) mapped_.emplace(each.task, each.event.mapping);
    }
    for (std::size_t i = 0; i < events_.size(); ++i) find(static_cast<std::int64_t>(i));
    record.end = end_;
    for (MeasuredEvent& each : events_) record.events.push_back(each.event);
  }

 private:
  const Event& event(std::int64_t i) const { return events_[static_cast<std::size_t>(i)].event; }
  static bool is_task(const Event& event) { return event.kind == Event::Kind::kTask; }

  // The interval in which an event ran, and the id of the task that the event belongs to.
  struct TaskInterval {
    RunTime begin, end;
    std::uint64_t task;
    RunTime length() const { return end - begin; }
  };

  // Ends the event of each task that launches others at its first launch. go_on() turns the later
  // work of the task into further events.
  void split_launching_tasks() {
    // For each task that launches others: the index of its event in events_, and the end of that
    // event before it was moved to the first launch.
    std::vector<std::pair<std::size_t, RunTime>> launching;
    for (std::size_t i = 0; i < events_.size(); ++i) {
      Event& event = events_[i].event;
      end_ = std::max(end_, event.end);
      const auto first = launches_of(i);
      if (!is_task(event) || first == launches_.end() || first->task != events_[i].task) continue;
      launching.emplace_back(i, event.end);
      event.end = std::clamp(first->time, event.start, event.end);
      // The event must not be longer than the task's own work. The runtime took the rest of the
      // time.
      if (events_[i].own_time > 0)
        event.end = std::min(event.end, event.start + events_[i].own_time);
    }
    // All events sorted by their end, and the tasks of each processor sorted by their begin.
    // go_on() searches in these lists.
    std::vector<TaskInterval> by_end;
    std::unordered_map<std::int32_t, std::vector<TaskInterval>> by_processor;
    for (const MeasuredEvent& each : events_) {
      by_end.push_back({each.event.start, each.event.end, each.task});
      if (is_task(each.event) && each.event.where >= 0) {
        by_processor[each.event.where].push_back(by_end.back());
      }
    }
    std::sort(by_end.begin(), by_end.end(),
              [](const TaskInterval& a, const TaskInterval& b) { return a.end < b.end; });
    for (auto& [processor, spans] : by_processor) {
      std::sort(spans.begin(), spans.end(),
                [](const TaskInterval& a, const TaskInterval& b) { return a.begin < b.begin; });
    }
    for (const auto& [task, end] : launching) go_on(task, end, by_end, by_processor);
  }

  // Returns the first launch by the task of event `i`. If the task launches nothing, returns the
  // end of the list or a launch by another task, which the caller must check.
  std::vector<Launch>::const_iterator launches_of(std::size_t i) const {
    return std::lower_bound(launches_.begin(), launches_.end(), Launch{events_[i].task, 0});
  }

  // Adds further events for the work that the launching task `i` did after its first launch. Only
  // the total time of that work is known. The time is distributed over the longest gaps. A gap ends
  // at a launch or at the end of the task, no other event ends in it, and the processor ran no
  // other task in it.
  void go_on(std::size_t i, RunTime end, const std::vector<TaskInterval>& by_end,
             const std::unordered_map<std::int32_t, std::vector<TaskInterval>>& by_processor) {
    const MeasuredEvent task = events_[i];
    RunTime left = task.own_time - (task.event.end - task.event.start);
    std::vector<TaskInterval> gaps;
    RunTime since = task.event.end;
    const auto add = [&](RunTime until) {
      if (until <= since) return;
      TaskInterval gap{since, until, task.task};
      since = until;
      // The gap begins no earlier than the last end of another event.
      auto before =
          std::upper_bound(by_end.begin(), by_end.end(), until,
                           [](RunTime time, const TaskInterval& span) { return time < span.end; });
      while (before != by_end.begin() && std::prev(before)->task == task.task) --before;
      if (before != by_end.begin()) gap.begin = std::max(gap.begin, std::prev(before)->end);
      const auto spans = by_processor.find(task.event.where);
      if (spans != by_processor.end()) {
        // If another task ran on the processor at the end of the gap, this task was waiting and did
        // not work.
        auto on_it = std::lower_bound(
            spans->second.begin(), spans->second.end(), until,
            [](const TaskInterval& span, RunTime time) { return span.begin < time; });
        while (on_it != spans->second.begin() && std::prev(on_it)->task == task.task) --on_it;
        if (on_it != spans->second.begin() && std::prev(on_it)->end > until) return;
      }
      if (gap.length() > 0) gaps.push_back(gap);
    };
    for (auto launch = launches_of(i); left > 0 && launch != launches_.end(); ++launch) {
      if (launch->task != task.task) break;
      add(std::min(launch->time, end));
    }
    if (left > 0) add(end);
    // Fills the longest gaps first, until the task's own time is used up.
    std::stable_sort(gaps.begin(), gaps.end(), [](const TaskInterval& a, const TaskInterval& b) {
      return a.length() > b.length();
    });
    for (const TaskInterval& gap : gaps) {
      if (left <= 0) break;
      MeasuredEvent more = task;
      more.uses.clear();
      more.continues_task = true;
      more.event.start = more.event.ready = gap.end - std::min(left, gap.length());
      more.event.end = gap.end;
      more.event.mapping = more.event.mapped = more.creation_time = gap.begin;
      left -= more.event.end - more.event.start;
      events_.push_back(std::move(more));
    }
  }

  // Returns the number of the event that ended last in the time (begin, end], among the events
  // before number `i`. Returns -1 if there is none.
  std::int64_t last_ended(RunTime begin, RunTime end, std::int64_t i) const {
    auto before = std::upper_bound(ends_.begin(), ends_.end(),
                                   std::pair(end, std::numeric_limits<std::int64_t>::max()));
    while (before != ends_.begin() && (--before)->first > begin) {
      if (before->second < i) return before->second;
    }
    return -1;
  }

  // Finds the cause of event `i`. The events must be passed in the order of their numbers.
  void find(std::int64_t i) {
    MeasuredEvent& each = events_[static_cast<std::size_t>(i)];
    Event& event = each.event;
    // The time of mapping is looked up by the id of the task. For a copy, it is the time at which
    // the mapping of the task that needed the copy began.
    const auto mapped = each.continues_task ? mapped_.end() : mapped_.find(each.task);
    event.after = last_ended(-1, mapped == mapped_.end() ? each.creation_time : mapped->second, i);
    if (each.continues_task) {
      event.continues = first_.at(each.task);
    } else {
      const std::int64_t holder = is_task(event) ? holder_of(event) : -1;
      event.cause = holder >= 0 ? holder : waited_for(each, i);
      if (is_task(event)) first_.emplace(each.task, i);
    }
    note(each, i);
  }

  // Returns the number of the last event on a task's processor if that event delayed the start of
  // the ready task. Otherwise returns -1.
  std::int64_t holder_of(const Event& task) const {
    const auto found = last_on_.find(task.where);
    if (task.where < 0 || found == last_on_.end()) return -1;
    const RunTime end = event(found->second).end;
    return end > task.ready && end <= task.start ? found->second : -1;
  }

  // Returns the number of the event that made event `i` ready: among the events that ended after
  // the creation of `i` and before `i` was ready, the last one with a conflicting use of an
  // instance. Without such a use, returns the last of these events. Returns -1 if there are none.
  std::int64_t waited_for(const MeasuredEvent& each, std::int64_t i) const {
    const RunTime created = each.creation_time, ready = each.event.ready;
    std::int64_t last = -1;
    for (const Use& use : each.uses) {
      const auto users = users_.find(use.instance);
      if (users == users_.end()) continue;
      for (const auto& [other, how] : users->second) {
        const RunTime end = event(other).end;
        if (end <= created || end > ready || !conflict(use, how)) continue;
        if (last < 0 || end >= event(last).end) last = other;
      }
    }
    return last >= 0 || ready <= created ? last : last_ended(created, ready, i);
  }

  // Records event `i` as the last one on its processor, and as a user of its instances. For each
  // instance, at least the latest kLookedAt users are kept.
  void note(const MeasuredEvent& each, std::int64_t i) {
    if (is_task(each.event) && each.event.where >= 0) {
      const auto [last, is_new] = last_on_.emplace(each.event.where, i);
      // Events are recorded in the order of their starts, so a later one may end earlier.
      if (!is_new && event(last->second).end <= each.event.end) last->second = i;
    }
    for (const Use& use : each.uses) {
      auto& users = users_[use.instance];
      if (users.size() >= 2 * kLookedAt) users.erase(users.begin(), users.begin() + kLookedAt);
      users.emplace_back(i, use);
    }
  }

  std::vector<MeasuredEvent> events_;
  std::vector<Launch> launches_;
  // The time at which the run ends: the end of its last event.
  RunTime end_ = 0;
  // The time at which the mapping of each task began, by the id of the task.
  std::unordered_map<std::uint64_t, RunTime> mapped_;
  // The number of the first event of each task, by the id of the task.
  std::unordered_map<std::uint64_t, std::int64_t> first_;
  // The end time and the number of each event, sorted by the end time.
  std::vector<std::pair<RunTime, std::int64_t>> ends_;
  // The number of the last event on each processor.
  std::unordered_map<std::int32_t, std::int64_t> last_on_;
  std::unordered_map<std::uint64_t, std::vector<std::pair<std::int64_t, Use>>> users_;
};

}  // namespace

void add_events_with_causes(std::vector<MeasuredEvent> events, std::vector<Launch> launches,
                            RunRecord& record) {
  Finder(std::move(events), std::move(launches)).find(record);
}

}  // namespace groma::profile
