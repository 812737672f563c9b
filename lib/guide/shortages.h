// Finds out, from an error about a full memory, for which region argument of which task there was
// no room.
#pragma once

#include <optional>

#include "groma/diagnostics.h"
#include "groma/guide.h"
#include "guide/rules.h"
#include "guide/words.h"

namespace groma::guide {

// If the diagnostic is about a full memory, returns the task and the region argument for which
// there was no room. For any other diagnostic, returns nullopt.
std::optional<MemoryShortage> shortage_of(const Diagnostic& diagnostic);
// Returns the task and the region argument for which a memory had no room, if the line of output
// that a rule matched names them. Such a line is a message of DefaultMapper, or a diagnostic that
// Groma printed in another process.
std::optional<MemoryShortage> shortage_of(const Rule& rule, const CapturedGroups& groups);

}  // namespace groma::guide
