// Finds literals for a regular expression: texts of which every match contains at least one. The
// literal finder (literal_finder.h) searches a log for literals, which is faster than trying every
// expression.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace groma::guide {

// Returns literals such that every match of `pattern` (RE2 syntax) contains at least one of them:
// {"cannot", "hasfailed"} for `cannot|has failed`. The literals are in lower case and without
// spaces, as lower_case_without_spaces() returns them. Returns an empty list if no literals can be
// derived.
std::vector<std::string> required_literals(std::string_view pattern);

// Returns the literal in lower case and without spaces, because the literal finder ignores case and
// spaces.
std::string lower_case_without_spaces(std::string_view literal);

}  // namespace groma::guide
