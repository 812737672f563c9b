// Cuts the text of domain declarations into tokens.
#pragma once

#include <string_view>
#include <vector>

#include "groma/diagnostics.h"

namespace groma::domains {

struct Token {
  enum class Kind : std::uint8_t { kEnd, kName, kNumber, kSign } kind = Kind::kEnd;
  Range range;
  // The text of a name or a sign.
  std::string_view text;
  // The value of a number.
  std::int64_t number = 0;
};

// Returns the tokens; the last one has the kind kEnd. Comments run from `#` to the end of the line.
// Reports invalid characters and too large numbers and leaves them out. The tokens refer to the
// text of `diags.source()`.
std::vector<Token> tokens_of(Diagnostics& diags);

}  // namespace groma::domains
