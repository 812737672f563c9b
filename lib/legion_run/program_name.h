// Recognises launchers and interpreters, which stand before the program in a command line.
#pragma once

#include <string_view>

namespace groma {

// Returns true if the command may start processes on other computers, which need not be like this
// one: `srun`, `mpirun` and others. `command` may be a path.
bool may_use_other_computers(std::string_view command);

}  // namespace groma
