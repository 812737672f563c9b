// LaunchWindow: how many launches of one task may be in flight, as in Legion's contexts
// (InnerContext::add_to_dependence_queue and register_child_commit). Without the limit a task with
// a long loop would launch all of the loop long before it runs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>

#include "groma/mapper_output.h"
#include "groma/run_record.h"

namespace groma::sim {

// The launches of one task that are in flight. A launch leaves the window when all of its tasks and
// those of all earlier launches are complete, since Legion commits operations in their order. A
// launch that leaves at the very time at which the task wants to launch still counts as in flight,
// so that it does not matter which of the two events is handled first.
//
// The launching task may be handled later than at its own time (SteadyLoop). So the window keeps
// the times at which launches left it, as far as the task has not asked at a later time.
class LaunchWindow {
 public:
  // Takes the limits from the answer of configure_context. A window of 0 or less has no limit, as
  // in Legion. A percentage outside of 0 to 100 is replaced by the nearest valid one.
  void set_limits(const ContextConfigOutput& answer) {
    most_ = std::max(0, answer.max_window);
    const std::int64_t kept = 100 - std::clamp(answer.hysteresis_percent, 0, 100);
    resume_at_ = std::max<std::int64_t>(1, kept * most_ / 100);
  }

  // Returns true if one more launch at `now` would exceed the limit. No later call may have an
  // earlier `now`.
  bool is_full(RunTime now) {
    while (!left_.empty() && left_.front() < now) left_.pop_front();
    return most_ > 0 && counted() + 1 > most_;
  }
  // For a task that finds the window full: returns the time at which so many launches have left
  // that the task may launch again. These launches no longer count. nullopt: the task has to wait
  // until go_on() returns true.
  std::optional<RunTime> wait_for_room() {
    const std::int64_t first = counted() + 1 - resume_at_;
    if (std::cmp_greater(first, left_.size())) return std::nullopt;
    const RunTime time = left_[static_cast<std::size_t>(first - 1)];
    left_.erase(left_.begin(), left_.begin() + first);
    return time;
  }
  // Returns true if a task that waits may launch again. The launches that have left then no longer
  // count.
  bool go_on() {
    if (in_flight() + 1 > resume_at_) return false;
    left_.clear();
    return true;
  }

  // Adds a launch with at least one task. Returns its number among the launches of the task.
  std::int64_t add() {
    complete_.push_back(false);
    return first_ + in_flight() - 1;
  }
  // Notes that all tasks of the launch with this number are complete at the time `now`. Returns how
  // many launches leave the window.
  int complete(std::int64_t launch, RunTime now) {
    complete_[static_cast<std::size_t>(launch - first_)] = true;
    int leaving = 0;
    for (; !complete_.empty() && complete_.front(); ++leaving) leave(now);
    return leaving;
  }
  // Removes the oldest launch.
  void leave(RunTime now) {
    complete_.pop_front();
    ++first_;
    if (most_ > 0) left_.push_back(now);
  }
  // Returns how many launches have left at `now` or later.
  std::int64_t left_since(RunTime now) const {
    return std::count_if(left_.begin(), left_.end(), [now](RunTime time) { return time >= now; });
  }
  // Moves the times at which launches left by `time`.
  void move(RunTime time) {
    for (RunTime& each : left_) each += time;
  }
  // Takes the times at which launches left from another window with the same launches in flight.
  void take_times_from(LaunchWindow&& other) { left_ = std::move(other.left_); }

 private:
  std::int64_t in_flight() const { return static_cast<std::int64_t>(complete_.size()); }
  // The number of launches that count as in flight for the launching task.
  std::int64_t counted() const { return in_flight() + static_cast<std::int64_t>(left_.size()); }

  // For each launch in flight, the oldest first: true if all of its tasks are complete.
  std::deque<bool> complete_;
  // The number of the oldest launch in flight.
  std::int64_t first_ = 0;
  std::int64_t most_ = 0, resume_at_ = 1;
  // The times at which launches left that still count for the launching task.
  std::deque<RunTime> left_;
};

}  // namespace groma::sim
