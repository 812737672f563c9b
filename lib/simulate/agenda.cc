// Implements Agenda, the queue of the events of a simulated run.
#include "simulate/agenda.h"

#include <algorithm>

#include "simulate/links.h"

namespace groma::sim {

// The limit on times keeps sums of a few times from overflowing.
bool Agenda::is_within_time_limit(RunTime time) {
  return time <= kLongest ||
         outcome_.fail(application_, "it takes longer than 13 days, 2^60 picoseconds");
}

// Returns an event with this time and kind. The caller sets its task, copy, message or processor.
Event Agenda::event_at(RunTime time, Event::Kind kind) {
  return {time, order_++ << Event::kKindBits | static_cast<std::uint64_t>(kind), {}};
}

std::vector<Event> Agenda::events_in_order() const {
  std::vector<Event> events = events_.values();
  std::sort(events.begin(), events.end());
  return events;
}

void Agenda::move(RunTime time, std::span<const Event> events) {
  now_ += time;
  events_ = {};
  for (const Event& event : events) events_.push(event);
}

// Adds the event at which a task that launches other tasks continues its body.
void Agenda::add_step(RunTime time, LaunchingTask& context) {
  if (!is_within_time_limit(time)) return;
  Event event = event_at(time, Event::Kind::kStep);
  event.context = &context;
  events_.push(event);
}

// Adds the event at which a task itself ends. Tasks that it launched may still run.
void Agenda::add_task_end(RunTime time, TaskRun& run) {
  if (!is_within_time_limit(time)) return;
  Event event = event_at(time, Event::Kind::kTaskEnd);
  event.run = &run;
  events_.push(event);
}

// Adds an event of a kind other than kStep and kTaskEnd. `id` is the number of its op, copy,
// message or processor.
void Agenda::add(RunTime time, Event::Kind kind, std::int64_t id) {
  if (!is_within_time_limit(time)) return;
  Event event = event_at(time, kind);
  event.id = id;
  events_.push(event);
}

}  // namespace groma::sim
