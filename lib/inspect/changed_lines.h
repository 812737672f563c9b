// Finds the lines of a text that a fix changes, as the page of a run shows them.
#pragma once

#include <vector>

#include "groma/diagnostics.h"
#include "groma/profile_page.h"

namespace groma {

// Returns the lines of the source that the fix changes, in the order of the text. Lines that the
// fix does not change are left out. Edits outside the source are ignored.
std::vector<RunSummary::LineChange> changed_lines(const Source& source, const Fix& fix);

}  // namespace groma
