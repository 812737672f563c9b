// Writes points in messages.
#pragma once

#include <fmt/format.h>

#include <string>

#include "groma/geometry.h"

namespace groma {

// Returns text such as "(1, 2)".
inline std::string text_of(const Point& point) {
  return fmt::format("({})", fmt::join(point.coordinates(), ", "));
}

}  // namespace groma
