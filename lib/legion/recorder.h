// A mapper above another one, which decides as before: it watches what the program launches.
#pragma once

#include <legion.h>

#include <memory>

#include "legion/run_events.h"

namespace groma::legion {

// `own` ends with what is returned.
std::unique_ptr<Legion::Mapping::Mapper> make_recorder(Legion::Mapping::Mapper* own,
                                                       std::shared_ptr<RunEvents> events);

// The `own` of such a mapper; null for any other.
Legion::Mapping::Mapper* recorded_by(Legion::Mapping::Mapper* mapper);

}  // namespace groma::legion
