// A mapper above another mapper, whose decisions it does not change. It records what the program
// launches.
#pragma once

#include <legion.h>

#include <memory>

#include "legion/asked_instances.h"
#include "legion/run_events.h"

namespace groma::legion {

// Makes a mapper that records the launches of `own` and owns it. `is_programs_own`: `own` is, or
// stands above, a mapper that the program registered, so the variants that it chooses are recorded.
// `asked` has the requests of the program's mapper, which are recorded as demands of its tasks.
// Null: no demands are recorded. `own_order`: see AskedInstance.
std::unique_ptr<Legion::Mapping::Mapper> make_recorder(Legion::Mapping::Mapper* own,
                                                       std::shared_ptr<RunEvents> events,
                                                       bool is_programs_own,
                                                       std::shared_ptr<AskedInstances> asked,
                                                       bool own_order);

// Returns the `own` of a mapper that make_recorder() made, or null for any other mapper.
Legion::Mapping::Mapper* own_of_recorder(Legion::Mapping::Mapper* mapper);

}  // namespace groma::legion
