// Causes: finds out what the events of a measured run waited for. Legion reports when each event
// was ready but not why. So the causes are inferred from the instances that events share, by these
// rules in order:
// * The event's start was delayed by another event on its processor: that event is the cause.
// * Among the events that ended while this one existed and was not ready: the cause is the last one
//   that shares an instance, if one of the two writes the same fields; otherwise the last one of
//   all.
// * Otherwise the event only waited to be mapped, after the last event that had ended by then.
#pragma once

#include <cstdint>
#include <vector>

#include "groma/run_record.h"

namespace groma::profile {

// The measurements of an event, in addition to the times in RunRecord::Event.
struct MeasuredEvent {
  struct Use {
    std::uint64_t instance = 0;
    std::uint64_t fields = 0;  // one bit for each field; several fields may share a bit
    bool writes = false;
  };
  RunRecord::Event event;  // its cause, `after` and related members are filled in here
  RunTime created = 0;     // time at which Legion created it
  RunTime own = 0;  // for a task: time for which it worked itself, without its waiting, if measured
  std::uint64_t task = 0;  // id of the task; for a copy, id of the task that needed it
  std::vector<Use> uses;
  // True for an event that add_events() makes: the work of a launching task after its first launch.
  bool goes_on = false;
};
// A launch of another task or an index launch by the task `task`, at `time`.
struct Launch {
  std::uint64_t task = 0;
  RunTime time = 0;
  friend auto operator<=>(const Launch&, const Launch&) = default;
};

// Adds the events to the record, sorted by start, with their causes and the end of the run.
//
// A task that launched others worked until its first launch, for at most its total own time
// (`own`). For its later work only the total is measured. The rest of `own` is distributed over the
// longest intervals before one of its launches or its end in which it cannot have waited: no task
// or copy ended there, and its processor ran none. Each such interval becomes an event.
void add_events(std::vector<MeasuredEvent> events, std::vector<Launch> launches, RunRecord& record);

}  // namespace groma::profile
