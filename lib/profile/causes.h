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
  std::uint64_t task = 0;  // its own number; of a copy that of the task that wanted it
  std::vector<Use> uses;
};
// When a task launched others for the first time.
struct FirstLaunch {
  std::uint64_t task = 0;
  RunTime time = 0;
};

// Puts the events into the record, by their starts, with their causes. A task that launched others
// ends where it launched the first: what it did later, and for what it waited, is not known.
void add_events(std::vector<MeasuredEvent> events, const std::vector<FirstLaunch>& launches,
                RunRecord& record);

}  // namespace groma::profile
