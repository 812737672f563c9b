// The constant parts of the HTML page that shows the profile of a run.
#pragma once

#include <string_view>

namespace groma::profile {

// Return the style sheet, which is added to the common one, and the script of the HTML page,
// without their tags. The script reads the JSON in the element `run`:
// * `total`: the length of the run;
// * `labels`: for each label of spans its text and the number of its colour (page_lanes.h);
// * `memories`: the names of the memories to which `details` refers;
// * `details`: what the tooltip adds to a label. A text is the point of a task. A list has the
//   source and the target memory of a copy, as indices into `memories` or -1, and its bytes;
// * `measured`: `name` and `spans` of the measured phase, with begin and end of each. Optional;
// * `groups`: the lanes in groups, each with a `title`. The first group is the critical path.
// A lane has `name`, `busy` (the fraction of the run), `idle` (0 or 1), `most` (the largest number
// of events at once), and `spans`. The list `spans` has six numbers for each span: the gap since
// the previous span, its length, the index of its label, 1 if it is on the critical path (otherwise
// 0), its event, and the index of its detail or -1. If `most` is above 1, `counts` has the number
// of events in each span.
std::string_view page_style();
std::string_view page_script();

}  // namespace groma::profile
