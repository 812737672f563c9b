// A briefing: what a language model needs to know in order to write a mapping, as one text. It is
// for models that Groma does not ask itself, such as the agent of an editor.
#pragma once

#include <memory>
#include <string>

#include "groma/machine.h"
#include "groma/workload.h"

namespace groma::tuning {

// Returns the reference card of the mapping language, and below it the facts about the machine and
// the application: their processors and memories; the tasks with their variants, launches and
// regions. Both may be null: their facts are then left out. An application needs a machine. The
// text has no paths and ends with a line end.
std::string briefing(const std::shared_ptr<const Machine>& machine, const Workload* app);

}  // namespace groma::tuning
