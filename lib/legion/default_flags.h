// The -dm: flags of a Legion program's command line.
#pragma once

#include <legion.h>

#include "groma/mapper.h"

namespace groma::legion {

// As Legion's DefaultMapper of `processor` reads them, but for -dm:sched: all ready tasks are
// mapped at once.
DefaultSettings default_settings(Legion::Mapping::MapperRuntime* runtime,
                                 const Legion::Machine& machine, Legion::Processor processor);

}  // namespace groma::legion
