// The versions of the protocol, and what each of them has.
#pragma once

#include <array>
#include <string_view>

namespace groma::serve {

// The versions that the server speaks, the oldest first. A version is a date, so that later
// versions are greater.
inline constexpr std::array<std::string_view, 3> kVersions = {"2024-11-05", "2025-03-26",
                                                              "2025-06-18"};

// Returns the version for a client that asks for `asked`: this one, if the server speaks it, or the
// newest.
constexpr std::string_view negotiate(std::string_view asked) {
  for (const std::string_view version : kVersions) {
    if (version == asked) return version;
  }
  return kVersions.back();
}

// Return true if the version has arrays of messages (only one has), hints about tools and messages
// in progress, and titles and structured results.
constexpr bool has_batches(std::string_view version) { return version == "2025-03-26"; }
constexpr bool has_tool_hints(std::string_view version) { return version >= "2025-03-26"; }
constexpr bool has_structured_results(std::string_view version) { return version >= "2025-06-18"; }

}  // namespace groma::serve
