// Opens files that other people may have made.
#pragma once

#include <string>

#include "groma/result.h"

namespace groma {

// Opens `path`, which must be a regular file and not a link. It never waits, as opening a pipe or a
// device would. `what` is the verb of the message, "read" or "write"; `flags` are those of open().
// A new file gets the permissions that the umask leaves. The caller closes the descriptor.
Result<int> open_regular_file(const std::string& path, const char* what, int flags);

}  // namespace groma
