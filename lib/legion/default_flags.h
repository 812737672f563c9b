// Reads the -dm: flags of a Legion program's command line.
#pragma once

#include <legion.h>

#include "groma/mapper.h"

namespace groma::legion {

// Returns the settings that Legion's DefaultMapper of `processor` would read from the command line.
// The flag -dm:sched is ignored, because all ready tasks are mapped at once.
DefaultSettings default_settings(Legion::Mapping::MapperRuntime* runtime,
                                 const Legion::Machine& machine, Legion::Processor processor);

}  // namespace groma::legion
