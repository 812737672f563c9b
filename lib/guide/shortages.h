// Finds out for which data of which task a memory had no room.
#pragma once

#include <optional>

#include "groma/diagnostics.h"
#include "groma/guide.h"
#include "guide/rules.h"
#include "guide/words.h"

namespace groma::guide {

// Returns which argument of which task had no room, if the diagnostic is about full memory.
// Otherwise returns nullopt.
std::optional<Shortage> shortage_of(const Diagnostic& diagnostic);
// Returns the same for a line of output that a rule matched. Such a line is a message of
// DefaultMapper, or a diagnostic that Groma printed in another process.
std::optional<Shortage> shortage_of(const Rule& rule, const Groups& groups);

}  // namespace groma::guide
