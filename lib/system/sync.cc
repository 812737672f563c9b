#include "system/sync.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "system/process.h"

namespace groma::system {

int sync_folder(const std::string& folder) {
  const File file(open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (file.get() < 0) return errno == EACCES ? 0 : errno;
  if (fsync(file.get()) == 0 || errno == EINVAL || errno == EROFS || errno == ENOTSUP) return 0;
  return errno;
}

}  // namespace groma::system
