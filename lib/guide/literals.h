// Finds texts (literals) that every match of a regular expression contains. The prefilter
// (prefilter.h) searches a log for them, which is faster than trying every expression.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace groma::guide {

// Returns literals such that every match of `pattern` (RE2 syntax) contains at least one of them:
// {"cannot", "failed"} for `cannot|has failed`. The literals are folded(). Returns an empty list if
// none can be derived.
std::vector<std::string> required_literals(std::string_view pattern);

// Returns the literal in lower case and without spaces, because the prefilter ignores case and
// spaces.
std::string folded(std::string_view literal);

}  // namespace groma::guide
