// The constant parts of the HTML page that shows the profile of a run.
#pragma once

#include <string_view>

namespace groma::profile {

// Return the style sheet, beside the common one, and the script of the HTML page, without their
// tags. The script reads the
// JSON in the element `run`, which has `total` (the length of the run), `labels` (the names of
// spans) and `lanes` (the rows of the timeline). A lane has `name` and `spans`. The list `spans`
// has five numbers for each span: the gap since the previous span, its length, the index of its
// label, 1 if it is on the critical path (otherwise 0), and its event. A lane with its own `labels`
// uses them in place of the common ones.
std::string_view page_style();
std::string_view page_script();

}  // namespace groma::profile
