// The constant parts of the HTML page.
#pragma once

#include <string_view>

namespace groma::profile {

// Return the style sheet and the script of the page, without their tags. The script reads the
// element `run`. That is JSON with `total` (the length of the run), `labels` (names of spans) and
// `lanes`. Each lane has `name` and `spans`, a flat list with five numbers for each span: the gap
// since the previous span, the length, the label, 1 on the critical path (otherwise 0), and the
// event. A lane with `path` has its own texts in place of labels.
std::string_view page_style();
std::string_view page_script();

}  // namespace groma::profile
