// The library's version.
#pragma once

#include <string_view>

namespace groma {
inline constexpr std::string_view kVersion = "0.1.0";
}
