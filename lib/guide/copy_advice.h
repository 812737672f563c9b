// Describes costly copies between memories, and suggests how a mapping can avoid them.
#pragma once

#include <string>
#include <string_view>

#include "groma/guide.h"

namespace groma::guide {

// Returns true if the copy moved data between these two memory kinds, in either direction.
bool is_copy_between(const ProfileFacts::Cause& cause, std::string_view a, std::string_view b);
// Describes between which memories a copy moved its data: "from SYSMEM to FBMEM", "from FBMEM to
// another FBMEM" or "within one SYSMEM".
std::string copy_direction_text(const ProfileFacts::Cause& cause);
// Returns the size of the copies behind a space, " (3.00 GiB in all)"; empty if it is unknown.
std::string size_of_copies(const ProfileFacts::Cause& cause);
// Suggests a change of the mapping that would avoid the copy or make it cheaper.
std::string suggestion_to_avoid_copy(const ProfileFacts::Cause& cause);

}  // namespace groma::guide
