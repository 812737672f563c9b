// What an application does, launch by launch, to compare two that are written differently; and as
// the recorder would have seen it.
#pragma once

#include <string>
#include <vector>

#include "app/data.h"
#include "recording/events.h"

namespace groma::test {

// A line for each task of each launch, in program order: parent and point, task and point, and of
// each requirement the privilege, the region, the boxes of the piece and the bytes of a point.
std::vector<std::string> trace_of(const app::Data& data);

// The events of a run of it.
app::Events events_of(const app::Data& data);

}  // namespace groma::test
