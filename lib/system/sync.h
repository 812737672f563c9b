// Names that outlast a power cut: a file's content and its name in a folder reach the disk apart.
#pragma once

#include <string>

namespace groma::system {

// Writes the names in a folder to the disk (an empty path is the working folder). Call it after
// making or renaming a file there. Returns 0, or the errno of a failure; file systems that cannot
// do it, and folders that we may not read, count as success.
int sync_folder(const std::string& folder);

}  // namespace groma::system
