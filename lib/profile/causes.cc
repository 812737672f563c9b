#include "profile/causes.h"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>

namespace groma::profile {
namespace {

using Event = RunRecord::Event;
using Use = MeasuredEvent::Use;

constexpr std::size_t kLookedAt = 64;  // of the users of an instance, the latest

bool conflict(const Use& a, const Use& b) {
  return (a.writes || b.writes) && (a.fields & b.fields) != 0;
}

class Finder {
 public:
  Finder(std::vector<MeasuredEvent> events, const std::vector<FirstLaunch>& launches)
      : events_(std::move(events)) {
    for (const FirstLaunch& launch : launches) launches_.emplace(launch.task, launch.time);
  }

  void find(RunRecord& record) {
    cut_launching_tasks();
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
    record.end = ends_.empty() ? 0 : ends_.back().first;
    for (MeasuredEvent& each : events_) record.events.push_back(each.event);
  }

 private:
  const Event& event(std::int64_t i) const { return events_[static_cast<std::size_t>(i)].event; }
  static bool is_task(const Event& event) { return event.kind == Event::Kind::kTask; }

  void cut_launching_tasks() {
    for (MeasuredEvent& each : events_) {
      const auto first = launches_.find(each.task);
      if (first == launches_.end() || !is_task(each.event)) continue;
      each.event.end = std::clamp(first->second, each.event.start, each.event.end);
    }
  }

  // Of those before `i`, the one that ended last, after `begin` and by `end`.
  std::int64_t last_ended(RunTime begin, RunTime end, std::int64_t i) const {
    auto before = std::upper_bound(ends_.begin(), ends_.end(),
                                   std::pair(end, std::numeric_limits<std::int64_t>::max()));
    while (before != ends_.begin() && (--before)->first > begin) {
      if (before->second < i) return before->second;
    }
    return -1;
  }

  void find(std::int64_t i) {
    MeasuredEvent& each = events_[static_cast<std::size_t>(i)];
    Event& event = each.event;
    // A copy is of the task that wanted it.
    const auto mapped = mapped_.find(each.task);
    event.after = last_ended(-1, mapped == mapped_.end() ? each.created : mapped->second, i);
    const std::int64_t holder = is_task(event) ? holder_of(event) : -1;
    if (holder >= 0) {
      event.cause = holder;
    } else {
      event.cause = waited_for(each, i);
      event.ready = event.start;  // from its being ready on it was Legion's
    }
    note(each, i);
  }

  std::int64_t holder_of(const Event& task) const {
    const auto found = last_on_.find(task.where);
    if (task.where < 0 || found == last_on_.end()) return -1;
    const RunTime end = event(found->second).end;
    return end > task.ready && end <= task.start ? found->second : -1;
  }

  std::int64_t waited_for(const MeasuredEvent& each, std::int64_t i) const {
    const RunTime created = each.created, ready = each.event.ready;
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

  void note(const MeasuredEvent& each, std::int64_t i) {
    if (is_task(each.event) && each.event.where >= 0) {
      const auto [last, is_new] = last_on_.emplace(each.event.where, i);
      if (!is_new && event(last->second).end <= each.event.end) last->second = i;
    }
    for (const Use& use : each.uses) {
      auto& users = users_[use.instance];
      if (users.size() >= 2 * kLookedAt) users.erase(users.begin(), users.begin() + kLookedAt);
      users.emplace_back(i, use);
    }
  }

  std::vector<MeasuredEvent> events_;
  std::unordered_map<std::uint64_t, RunTime> launches_, mapped_;  // by task
  std::vector<std::pair<RunTime, std::int64_t>> ends_;            // and events
  std::unordered_map<std::int32_t, std::int64_t> last_on_;        // by processor
  std::unordered_map<std::uint64_t, std::vector<std::pair<std::int64_t, Use>>> users_;
};

}  // namespace

void add_events(std::vector<MeasuredEvent> events, const std::vector<FirstLaunch>& launches,
                RunRecord& record) {
  Finder(std::move(events), launches).find(record);
}

}  // namespace groma::profile
