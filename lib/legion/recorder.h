// A mapper that stands above another mapper and does not change its decisions. It records the tasks
// that the program launches.
#pragma once

#include <legion.h>

#include <memory>

#include "legion/asked_instances.h"
#include "legion/run_events.h"

namespace groma::legion {

// Makes a mapper that records the launches that `own` maps. The new mapper owns `own`.
// `is_programs_own`: `own` is, or stands above, a mapper that the program registered, so the
// variants that it chooses are recorded. `asked` has the instance requests of the program's mapper,
// which are recorded as demands of its tasks; if it is null, no demands are recorded. `own_order`:
// see InstanceRequestRecord.
std::unique_ptr<Legion::Mapping::Mapper> make_recorder(Legion::Mapping::Mapper* own,
                                                       std::shared_ptr<RunEvents> events,
                                                       bool is_programs_own,
                                                       std::shared_ptr<RequestedInstances> asked,
                                                       bool own_order);

// Returns the mapper below a mapper that make_recorder() made, or null for any other mapper.
Legion::Mapping::Mapper* mapper_below_recorder(Legion::Mapping::Mapper* mapper);

}  // namespace groma::legion
