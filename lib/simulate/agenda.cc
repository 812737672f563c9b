// Orders the events of a run.
#include "simulate/agenda.h"

#include "simulate/links.h"

namespace groma::sim {

// The limit keeps sums of a few times from overflowing.
bool Agenda::allows(RunTime time) {
  return time <= kLongest ||
         outcome_.fail(application_, "it takes longer than 13 days, 2^60 picoseconds");
}

// Returns an event whose subject is not set.
Event Agenda::event_at(RunTime time, Event::Kind kind) {
  return {time, order_++ << Event::kKindBits | static_cast<std::uint64_t>(kind), {}};
}

// Adds the event that lets a task that launches go on.
void Agenda::add_step(RunTime time, Context& context) {
  if (!allows(time)) return;
  Event event = event_at(time, Event::Kind::kStep);
  event.context = &context;
  events_.push(event);
}

// Adds the event that ends a task's own run.
void Agenda::add_task_end(RunTime time, TaskRun& run) {
  if (!allows(time)) return;
  Event event = event_at(time, Event::Kind::kTaskEnd);
  event.run = &run;
  events_.push(event);
}

// Adds an event of any other kind.
void Agenda::add(RunTime time, Event::Kind kind, std::int64_t id) {
  if (!allows(time)) return;
  Event event = event_at(time, kind);
  event.id = id;
  events_.push(event);
}

}  // namespace groma::sim
