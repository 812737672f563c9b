// A mapper above another one, which decides as before: it watches what the program launches.
#pragma once

#include <legion.h>

#include <memory>

#include "legion/asked_instances.h"
#include "legion/run_events.h"

namespace groma::legion {

// `own` ends with what is returned. `is_programs_own`: a mapper that the program registered is, or
// stands below, `own`, so the variants that it chooses are recorded. `asked` knows what the
// program's mapper asks for, which is recorded as demands of its tasks; null: nothing is demanded.
std::unique_ptr<Legion::Mapping::Mapper> make_recorder(Legion::Mapping::Mapper* own,
                                                       std::shared_ptr<RunEvents> events,
                                                       bool is_programs_own,
                                                       std::shared_ptr<AskedInstances> asked);

// The `own` of such a mapper; null for any other.
Legion::Mapping::Mapper* recorded_by(Legion::Mapping::Mapper* mapper);

}  // namespace groma::legion
