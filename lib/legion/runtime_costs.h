// RuntimeCosts: measures the costs of the Legion runtime itself while a program runs: the time of a
// launch call, and the time to analyse and map a task.
#pragma once

#include <legion.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "recording/events.h"

namespace groma::legion {

// The time when a mapper hook began, in nanoseconds, and the part of the hook that was spent in the
// program's own mapper.
class HookTimes {
 public:
  HookTimes() : begin_(now()) {}
  void begin_program_mapper() { own_begin_ = now(); }
  void end_program_mapper() { own_end_ = now(); }
  std::int64_t end() const { return own_end_; }
  // Returns the time that Legion and the program's mapper took since `then`, in nanoseconds,
  // without the recorder's own work in this hook.
  std::int64_t since(std::int64_t then) const {
    return std::max<std::int64_t>(0, begin_ - then) +
           std::max<std::int64_t>(0, own_end_ - std::max(own_begin_, then));
  }
  static std::int64_t now();

 private:
  std::int64_t begin_, own_begin_ = 0, own_end_ = 0;
};

// Returns the number of measured times and their value at this percentile.
app::Events::Cost percentile(std::vector<std::int64_t> times, std::size_t percent);

// Collects the measured costs of launching and mapping tasks. Thread-safe.
class RuntimeCosts {
 public:
  // Notes the time that a call took with which a task launches something.
  void add_launch_call_time(std::int64_t nanoseconds);
  // issued() and mapped() measure the cost of mapping a task. issued() notes when the task was
  // launched, mapped() when it was mapped. The measured time begins when the previous task was
  // mapped or when this task was launched, whichever is later.
  void issued(const Legion::Task& task, const HookTimes& times);
  void mapped(const Legion::Task& task, const HookTimes& times);
  // Adds the measured costs to `events`.
  void add_to(app::Events& events) const;

 private:
  mutable std::mutex mutex_;
  // The launch times of single tasks that are not mapped yet, and of index launches. The key has
  // the unique id of the parent task and the number of the launch in it.
  std::map<std::pair<Legion::UniqueID, std::uint64_t>, std::int64_t> issued_at_;
  std::int64_t last_map_ = 0;
  bool has_called_ = false;
  std::vector<std::int64_t> issue_costs_, map_costs_;
};

}  // namespace groma::legion
