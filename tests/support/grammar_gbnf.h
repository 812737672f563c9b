// Reads GBNF, the notation of llama.cpp, back into a table of productions, as strictly as the least
// lenient of the servers that take it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "syntax/grammar.h"

namespace groma::testing {

// `root` comes first. Empty, and `*problem` says why, when the text is not well-formed: names are
// letters, digits and `-`; a definition ends with its line, but for what follows a `|` or stands in
// parentheses; nothing begins with `|`; classes are not negated.
std::vector<syntax::Production> parse_gbnf(std::string_view text, std::string* problem);

}  // namespace groma::testing
