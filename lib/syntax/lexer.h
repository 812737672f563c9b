// Lexer: the first stage, from text to tokens, one at a time, so that a text of any size needs no
// memory for its tokens. It never fails: what is no token is reported and becomes kError.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "groma/diagnostics.h"
#include "syntax/token.h"

namespace groma::syntax {

struct Comment {
  Range range;    // from its `#` or `//` to before the line's end
  bool own_line;  // nothing but white space stands before it on its line
};

class Lexer {
 public:
  // `comments` (may be null) receives every comment in order. All are used until the last next().
  Lexer(const Source& source, Diagnostics& diags, std::vector<Comment>* comments);

  // The next token; kEnd for ever at the end.
  Token next();

 private:
  void skip_comment(std::size_t begin);
  void skip_foreign(std::size_t begin);
  Token word(std::size_t begin);
  Token number(std::size_t begin);
  bool is_print_text(std::size_t begin) const;
  Token string(std::size_t begin);
  Token sign(std::size_t begin);
  void report_unexpected(std::size_t begin, bool in_text);
  bool report_hidden(std::size_t begin, std::size_t end);
  void skip_what_belongs(std::string_view character);
  Token token(TokenKind kind, std::size_t begin, std::uint8_t value = 0);

  std::string_view text_;
  std::size_t at_ = 0;
  bool line_start_ = true;   // no token yet on this line
  bool fence_seen_ = false;  // one of Markdown's was reported
  Diagnostics& diags_;
  std::vector<Comment>* comments_;
};

// The value of a string token's text (with its quotes): `\"` and `\\` replaced, all else as it is.
std::string string_value(std::string_view quoted);
// The inverse.
std::string quoted(std::string_view value);

// A task's or region's name as a statement writes it; nothing for what no string can hold.
std::optional<std::string> written_name(std::string_view name);

}  // namespace groma::syntax
