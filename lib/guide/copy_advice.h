// Says how the data of costly copies moved, and what would avoid the copies.
#pragma once

#include <string>
#include <string_view>

#include "groma/guide.h"

namespace groma::guide {

// Returns true if the data moved between these two kinds of memory, in either direction.
bool is_between(const ProfileFacts::Cause& cause, std::string_view a, std::string_view b);
// Returns how the data moved: "from SYSMEM to FBMEM", "from FBMEM to another FBMEM" or "within one
// SYSMEM".
std::string way_of(const ProfileFacts::Cause& cause);
// Returns a suggestion that would avoid the copy or make it cheaper.
std::string cure_of_copy(const ProfileFacts::Cause& cause);

}  // namespace groma::guide
