// The source files from which emitted mappers are made, embedded as text at build time
// (cmake/embed.cmake).
#pragma once

#include <span>
#include <string_view>

namespace groma::emitting {

struct PartFile {
  // The name of the file, such as "values.h".
  std::string_view name;
  std::string_view text;
};
std::span<const PartFile> part_files();

}  // namespace groma::emitting
