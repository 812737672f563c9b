// Describes the profile of a run for a prompt.
#pragma once

#include <string>

#include "groma/guide.h"

namespace groma::tuning {

// Describes a cause of a run's time: "88 % reduction of A from FBMEM to FBMEM between nodes".
std::string describe_cause(const ProfileFacts::Cause& cause);

// Describes in one line what took the time of a run: the shares of tasks, copies and the runtime,
// the largest causes, and the load of processors and memories.
std::string profile_words(const ProfileFacts& facts);

}  // namespace groma::tuning
