// The order of name patterns such as `calc_*` and of selectors such as `main > step`, by which the
// most specific one decides.
#pragma once

#include "groma/diagnostics.h"
#include "program/data.h"

namespace groma::program {

// Fills data.patterns: in each list, the patterns with more characters besides `*` come first, then
// the selectors that name more tasks above. Among equal ones the first in the text comes first;
// warns about those that can match the same task.
void order_patterns(ProgramData& data, Diagnostics& diags);

}  // namespace groma::program
