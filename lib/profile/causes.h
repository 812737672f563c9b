// Causes: finds out what the events (tasks and copies) of a measured run waited for. Legion reports
// when an event became ready but not why. The causes are inferred from the instances that events
// use, by these rules in their order:
// * If another task on the same processor delayed the start of a task, the other task is the cause.
// * Otherwise, events that ended after the event was created and before it was ready may be the
//   cause. If some of them use an instance of the event, and one of the two uses writes the same
//   fields, the last of these is the cause. If none does, the last one of all is the cause.
// * Otherwise the event only waited to be mapped, after the last event that had ended by then.
#pragma once

#include <cstdint>
#include <vector>

#include "groma/run_record.h"

namespace groma::profile {

// What was measured about an event, besides the times in RunRecord::Event.
struct MeasuredEvent {
  // The use of one instance by the event.
  struct InstanceUse {
    std::uint64_t instance = 0;
    // A set of fields with one bit for each. Several fields may share a bit.
    std::uint64_t fields = 0;
    bool writes = false;
  };
  // The event. add_events_with_causes() sets its members `cause`, `after` and `continues`.
  RunRecord::Event event;
  // The time at which Legion created the event, in picoseconds.
  RunTime creation_time = 0;
  // For a task, the time for which it worked itself, without waiting. 0 if this was not measured.
  RunTime own_time = 0;
  // The id of the task. For a copy, the id of the task that needed the copy.
  std::uint64_t task = 0;
  std::vector<InstanceUse> uses;
  // True for an event that add_events_with_causes() itself adds: a part of the work that a
  // launching task did after its first launch.
  bool continues_task = false;
};
// The launch of a single task or an index launch. `task` is the id of the task that launched it.
struct Launch {
  std::uint64_t task = 0;
  RunTime time = 0;
  friend auto operator<=>(const Launch&, const Launch&) = default;
};

// Adds measured events to the record of a run, sorted by their start, with their causes. Also sets
// the end of the run.
//
// A task that launched others worked until its first launch, but no longer than its own time
// (MeasuredEvent::own_time). Of its later work only the total is measured. So the rest of its own
// time is distributed over the longest intervals, each before one of its launches or its end, in
// which the task cannot have waited: no task or copy ended there, and its processor ran no other
// task. Each such interval becomes an event.
void add_events_with_causes(std::vector<MeasuredEvent> events, std::vector<Launch> launches,
                            RunRecord& record);

}  // namespace groma::profile
