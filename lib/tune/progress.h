// Progress: the time and the spending of a search, the request to stop the search, and the events
// for a display.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <limits>
#include <utility>

#include "groma/tune.h"
#include "tune/record.h"

namespace groma::tuning {

// The time, the spending and the stop request of one search, which the components of the search
// share. `options` and `record` must outlive it. stop() and seconds() may be called from any
// thread, all other functions from the thread of the search.
class Progress {
 public:
  Progress(const TuneOptions& options, const SearchRecord& record)
      : options_(options), record_(record), begin_(std::chrono::steady_clock::now()) {}

  // Returns true if the search should end at once: after an error, when the user asked for it, or
  // when its time is over. After it has returned true, it always does. Returns false while the
  // record is replayed, so that the replay repeats the recorded search.
  bool should_stop() const {
    if (!record_.first_error() && record_.replaying()) return false;
    if (record_.first_error() || has_user_stopped() || out_of_time()) stopped_ = true;
    return stopped_;
  }
  // Makes stop() return true from now on. Any thread may call this.
  void stop_now() { stopped_ = true; }
  // Returns true if the user asked to stop.
  bool has_user_stopped() const { return options_.stop && options_.stop(); }
  // Returns true if the budget of time is used up.
  bool out_of_time() const {
    return options_.budget.seconds > 0 && seconds() >= options_.budget.seconds;
  }
  // Returns how long the search has run, in seconds, including the time before it was resumed.
  double seconds() const {
    const std::chrono::duration<double> now = std::chrono::steady_clock::now() - begin_;
    return seconds_before_ + now.count();
  }
  double seconds_before() const { return seconds_before_; }
  // Notes that a replayed step was recorded `seconds` after the start of the search.
  void add_replayed_seconds(double seconds) {
    seconds_before_ = std::max(seconds_before_, seconds);
  }

  // Announces new work. Must be called before a text is tried or estimated or a question is asked,
  // except when the result comes from the record. In a resumed search, the first call runs
  // `when_resumed`.
  void begin_work() {
    if (announced_ || !record_.was_resumed() || record_.replaying()) return;
    announced_ = true;
    when_resumed();
  }
  // True if the search tried, asked or estimated something that is not in the record.
  bool worked = false;
  std::function<void()> when_resumed;

  // What the search has spent so far. The member `seconds` is not set.
  TuneSpending spent;
  double best_score = std::numeric_limits<double>::infinity();

  // Reports an event to the user's callback. The function `fill` sets the members that depend on
  // the kind of the event.
  template <typename Fill>
  void report_event(TuneEvent::Kind kind, const Fill& fill) const {
    if (!options_.on_event) return;
    TuneEvent event;
    event.kind = kind;
    event.spent = spent;
    event.spent.seconds = seconds();
    event.best_score = best_score;
    fill(&event);
    options_.on_event(event);
  }

 private:
  const TuneOptions& options_;
  const SearchRecord& record_;
  std::chrono::steady_clock::time_point begin_;
  // The seconds that the search ran before it was resumed.
  double seconds_before_ = 0;
  // True if `when_resumed` was called.
  bool announced_ = false;
  mutable std::atomic<bool> stopped_ = false;
};

}  // namespace groma::tuning
