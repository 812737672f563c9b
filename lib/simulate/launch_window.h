// LaunchWindow: how many launches of one task may be in flight, as in Legion's contexts
// (InnerContext::add_to_dependence_queue and register_child_commit). Without the limit a task with
// a long loop would launch all of the loop long before it runs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>

#include "groma/mapper_output.h"

namespace groma::sim {

// The launches of one task that are in flight. A launch leaves the window when all of its tasks and
// those of all earlier launches are complete, since Legion commits operations in their order.
class LaunchWindow {
 public:
  // Takes the limits from the answer of configure_context. A window of 0 or less has no limit, as
  // in Legion. A percentage outside of 0 to 100 is replaced by the nearest valid one.
  void set_limits(const ContextConfigOutput& answer) {
    most_ = std::max(0, answer.max_window);
    const std::int64_t kept = 100 - std::clamp(answer.hysteresis_percent, 0, 100);
    resume_at_ = std::max<std::int64_t>(1, kept * most_ / 100);
  }

  // Returns true if one more launch would exceed the limit. The task then waits until has_room().
  bool is_full() const { return most_ > 0 && in_flight() + 1 > most_; }
  // Returns true if a task that waits may launch again.
  bool has_room() const { return in_flight() + 1 <= resume_at_; }

  // Adds a launch with at least one task. Returns its number among the launches of the task.
  std::int64_t add() {
    complete_.push_back(false);
    return first_ + in_flight() - 1;
  }
  // Notes that all tasks of the launch with this number are complete.
  void complete(std::int64_t launch) {
    complete_[static_cast<std::size_t>(launch - first_)] = true;
    while (!complete_.empty() && complete_.front()) {
      complete_.pop_front();
      ++first_;
    }
  }

 private:
  std::int64_t in_flight() const { return static_cast<std::int64_t>(complete_.size()); }

  // For each launch in flight, the oldest first: true if all of its tasks are complete.
  std::deque<bool> complete_;
  // The number of the oldest launch in flight.
  std::int64_t first_ = 0;
  std::int64_t most_ = 0, resume_at_ = 1;
};

}  // namespace groma::sim
