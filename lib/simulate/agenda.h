// Agenda: the future events of a simulated run, and the simulated time that the run has reached.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "groma/run_record.h"
#include "simulate/heap.h"
#include "simulate/outcome.h"
#include "simulate/task_run.h"

namespace groma::sim {

// One event of a simulated run. Event objects are small, since millions of them may wait.
struct Event {
  // The kinds of events. kStep: a task that launches other tasks continues its body. kReady: an op
  // that waited only for its mapping becomes ready. kSelect: a mapper is asked which of its waiting
  // tasks to map. kSteal: an idle processor may steal tasks.
  enum class Kind : std::uint8_t { kStep, kReady, kTaskEnd, kCopyEnd, kSelect, kSteal, kMessage };
  static constexpr int kKindBits = 3;

  RunTime time;
  // The number of the event, which orders events at the same time. Its lowest kKindBits bits hold
  // the kind of the event.
  std::uint64_t order;
  union {
    // Set for kStep: the task that continues its body.
    LaunchingTask* context;
    // Set for kTaskEnd: the task that ends.
    TaskRun* run;
    // Set for all other kinds: the number of an op, a copy, a message or a processor. With kSteal,
    // -1 stands for all processors.
    std::int64_t id;
  };
  Kind kind() const { return static_cast<Kind>(order & ((1U << kKindBits) - 1)); }
  bool operator<(const Event& other) const {
    return time != other.time ? time < other.time : order < other.order;
  }
};

// A queue of events in the order of their times. Events at the same time happen in the order in
// which they were added.
class Agenda {
 public:
  // `application` is the name of the application, for error messages. Both arguments must outlive
  // the agenda.
  Agenda(std::string_view application, Outcome& outcome)
      : application_(application), outcome_(outcome) {}

  RunTime now() const { return now_; }
  bool empty() const { return events_.empty(); }
  std::int64_t bytes() const { return events_.bytes(); }

  // Add an event to the agenda. If `time` is beyond kLongest, the run ends with an error instead.
  void add_step(RunTime time, LaunchingTask& context);
  void add_task_end(RunTime time, TaskRun& run);
  void add(RunTime time, Event::Kind kind, std::int64_t id);
  // Removes and returns the earliest event, and sets now() to its time. The agenda must not be
  // empty. Time never goes back, since no event is added before now().
  Event pop_next_event() {
    const Event event = events_.pop();
    now_ = event.time;
    return event;
  }
  // Returns the events to come in the order in which they will happen.
  std::vector<Event> events_in_order() const;
  // Moves the present time by `time`, and gives the events to come new times: `events` are those
  // that events_in_order() returned, in the same order.
  void move(RunTime time, std::span<const Event> events);
  // Returns true if `time` is at most kLongest. Otherwise ends the run with an error and returns
  // false.
  bool is_within_time_limit(RunTime time);
  // Returns a number that is larger than those of all earlier calls and of all events added so far.
  std::uint64_t next_number() { return order_++; }

 private:
  Event event_at(RunTime time, Event::Kind kind);

  const std::string_view application_;
  Outcome& outcome_;
  Heap<Event> events_;
  std::uint64_t order_ = 0;
  RunTime now_ = 0;
};

}  // namespace groma::sim
