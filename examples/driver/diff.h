// Unified diffs between two texts, for `groma format --diff`.
#pragma once

#include <string>
#include <string_view>

namespace driver {

// Returns the differences in the format of `diff -u`, with three lines of context. Returns an empty
// string if the texts are equal.
std::string unified_diff(std::string_view name, std::string_view before, std::string_view after);

}  // namespace driver
