// Suggests changes of a mapping for a run of which only the time or the throughput is known.
#pragma once

#include "groma/guide.h"

namespace groma::guide {

// Suggests, for each Task statement that does not prefer GPUs, the statement that does.
void suggest_gpus_for_tasks(const Program& program, GuideFeedback* feedback);
// Names the statements that place tasks on processors, and suggests another function for the first
// one. If the program has none, suggests one.
void suggest_other_places(const Program& program, GuideFeedback* feedback);

}  // namespace groma::guide
