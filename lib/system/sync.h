// Makes file names survive a power failure: the content of a file and its name in the folder reach
// the disk separately.
#pragma once

#include <string>

namespace groma::system {

// Writes the names in a folder to the disk (an empty path is the working folder). Call it after
// making or renaming a file there. Returns 0 or an errno. A file system that cannot write the names
// of a folder, and a folder without read permission, count as success.
int sync_folder(const std::string& folder);

}  // namespace groma::system
