// What every match of a regular expression has to contain: for the prefilter.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace groma::guide {

// Literals of which at least one stands in everything that `pattern` (of RE2's language) matches,
// in lower case and without spaces, since the prefilter ignores both. Empty: none could be derived.
std::vector<std::string> required_literals(std::string_view pattern);

// The form in which the prefilter takes a literal.
std::string folded(std::string_view literal);

}  // namespace groma::guide
