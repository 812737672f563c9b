// Makes new names in a folder durable.
#include "system/sync.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "system/process.h"

namespace groma::system {

// Returns 0 or an errno. A file system that cannot sync a folder, or a folder that we may not read,
// is not an error.
int sync_folder(const std::string& folder) {
  const FileDescriptor file(
      open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (file.get() < 0) return errno == EACCES ? 0 : errno;
  if (fsync(file.get()) == 0 || errno == EINVAL || errno == EROFS || errno == ENOTSUP) return 0;
  return errno;
}

}  // namespace groma::system
