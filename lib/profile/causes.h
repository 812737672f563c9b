// Causes: what the events of a measured run waited for. Legion says when each was ready, not what
// it was ready for; this is what can be said by the instances that events share.
//
// An event that another one on its processor kept from its start waited for that. Else, of what
// ended while it existed and was not ready yet: the last that shares an instance with it, where one
// of the two writes the same fields; else the last of all. Else it waited for nothing but to be
// mapped: after the last of all that had ended by then.
#pragma once

#include <cstdint>
#include <vector>

#include "groma/run_record.h"

namespace groma::profile {

// What is measured of an event, beside RunRecord::Event's times.
struct MeasuredEvent {
  struct Use {
    std::uint64_t instance = 0;
    std::uint64_t fields = 0;  // a bit each; fields may share one
    bool writes = false;
  };
  RunRecord::Event event;  // its cause, after and their likes are to be found
  RunTime created = 0;     // when Legion handed it over to be run
  RunTime own = 0;         // of a task: for how long it worked itself, where that is measured
  std::uint64_t task = 0;  // its own number; of a copy that of the task that wanted it
  std::vector<Use> uses;
  bool goes_on = false;  // add_events' own: what a launching task did after its first launch
};
// `task` launched another, or an index of them.
struct Launch {
  std::uint64_t task = 0;
  RunTime time = 0;
  friend auto operator<=>(const Launch&, const Launch&) = default;
};

// Puts the events into the record, by their starts, with their causes, and the end of the run.
//
// A task that launched others worked until it launched the first, for no longer than it worked in
// all (`own`); of what it did later only that sum is measured. The rest of it goes into the longest
// times before one of its launches, or its end, in which it cannot have waited for a task or copy:
// none ended there, and its processor ran none.
// Each is an event of its own.
void add_events(std::vector<MeasuredEvent> events, std::vector<Launch> launches, RunRecord& record);

}  // namespace groma::profile
