// Extracts from a regular expression the literals that every match must contain. The prefilter
// (prefilter.h) searches for these literals.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace groma::guide {

// Returns literals such that every match of `pattern` (RE2 syntax) contains at least one of them.
// The literals are folded (see folded()). Returns an empty list if no such literals can be derived.
std::vector<std::string> required_literals(std::string_view pattern);

// Returns the literal in lower case and without spaces, because the prefilter ignores case and
// spaces.
std::string folded(std::string_view literal);

}  // namespace groma::guide
