// C++ code as tokens, for rules about what code does.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace groma::architecture {

struct Token {
  enum class Kind { kWord, kString, kSign } kind;
  std::string text;  // a string without its quotes; escapes stay as written
};

// Splits C++ code into words, strings and signs. Comments, character literals and lines of the
// preprocessor are left out. Adjacent strings become one.
std::vector<Token> tokens_of(std::string_view code);

}  // namespace groma::architecture
