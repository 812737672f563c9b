// The operating system: files that are written whole or not at all.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "groma/result.h"

namespace groma {

// Replaces the file's content: writes a new file beside it, with the old one's permissions, and
// renames it over. The file has at every moment its old content or the new one. A symbolic link is
// followed. Returns the failure, if there was one; then nothing has changed and nothing is left
// over.
[[nodiscard]] std::optional<Error> write_file(const std::string& path, std::string_view text);

}  // namespace groma
