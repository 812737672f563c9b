// Unified differences between two texts, for `groma format --diff`.
#pragma once

#include <string>
#include <string_view>

namespace driver {

// As `diff -u` prints it, with three lines of context; empty when the texts are equal.
std::string unified_diff(std::string_view name, std::string_view before, std::string_view after);

}  // namespace driver
