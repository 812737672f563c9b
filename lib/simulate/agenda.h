// Agenda: the events of a run that are still to come, and the time that it has reached.
#pragma once

#include <cstdint>

#include "groma/run_record.h"
#include "simulate/heap.h"
#include "simulate/outcome.h"
#include "simulate/task_run.h"

namespace groma::sim {

// One event. It is kept small, since millions of them may wait.
struct Event {
  // kStep: a task that launches goes on. kReady: an op waits for nothing any more. kSelect: a
  // mapper is asked which of its tasks to map. kSteal: an idle processor may steal.
  enum class Kind : std::uint8_t { kStep, kReady, kTaskEnd, kCopyEnd, kSelect, kSteal, kMessage };
  static constexpr int kKindBits = 3;

  RunTime time;
  std::uint64_t order;  // the lowest kKindBits bits hold the kind
  union {
    Context* context;  // kStep
    TaskRun* run;      // kTaskEnd
    std::int64_t id;   // an op, a copy, a message or a processor (kSteal: -1 for all)
  };
  Kind kind() const { return static_cast<Kind>(order & ((1U << kKindBits) - 1)); }
  bool operator<(const Event& other) const {
    return time != other.time ? time < other.time : order < other.order;
  }
};

// Events at the same time happen in the order in which they were added.
class Agenda {
 public:
  // `application` is the name in messages. Both must outlive the agenda.
  Agenda(std::string_view application, Outcome& outcome)
      : application_(application), outcome_(outcome) {}

  RunTime now() const { return now_; }
  bool empty() const { return events_.empty(); }
  std::int64_t bytes() const { return events_.bytes(); }

  // Add an event. A time beyond kLongest ends the run.
  void add_step(RunTime time, Context& context);
  void add_task_end(RunTime time, TaskRun& run);
  void add(RunTime time, Event::Kind kind, std::int64_t id);
  // Returns the earliest event and moves the time to it. The agenda must not be empty. Time never
  // goes back, since no event is added before now().
  Event next() {
    const Event event = events_.pop();
    now_ = event.time;
    return event;
  }
  // Returns true unless the time is beyond kLongest. Then it ends the run.
  bool allows(RunTime time);
  // Returns numbers that rise with each call and with each event.
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
