// Lexer: the first stage, from text to tokens. It gives one token at a time, so that no memory is
// needed for the tokens of a long text. It never fails: invalid text is reported and becomes
// kError.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "groma/diagnostics.h"
#include "syntax/token.h"

namespace groma::syntax {

// A comment in the source.
struct SourceComment {
  // The range begins at `#` or `//` and ends before the line end.
  Range range;
  // True if only white space precedes the comment on its line.
  bool own_line;
};

class Lexer {
 public:
  // `comments` (may be null) receives every comment in order. The lexer uses all arguments until
  // the last call of next_token().
  Lexer(const Source& source, Diagnostics& diags, std::vector<SourceComment>* comments);

  // Returns the next token. At the end it returns kEnd, again and again.
  Token next_token();

 private:
  void skip_comment(std::size_t begin);
  void skip_foreign_text(std::size_t begin);
  Token read_word(std::size_t begin);
  Token read_number(std::size_t begin);
  bool is_text_of_print(std::size_t begin) const;
  Token read_string(std::size_t begin);
  Token read_sign(std::size_t begin);
  void report_unexpected_character(std::size_t begin, bool in_text);
  bool report_hidden_characters(std::size_t begin, std::size_t end);
  void skip_rest_of_mistake(std::string_view character);
  Token make_token(TokenKind kind, std::size_t begin, std::uint8_t value = 0);

  std::string_view text_;
  std::size_t at_ = 0;
  // True if no token of the current line was read yet.
  bool line_start_ = true;
  // True if the lexer has already reported a Markdown code fence.
  bool fence_seen_ = false;
  Diagnostics& diags_;
  std::vector<SourceComment>* comments_;
};

// Returns the value of a string literal, which is given with its quotes. The escapes `\"` and `\\`
// are replaced; all other characters stay.
std::string unescape_string(std::string_view quoted);
// Returns `value` as a string literal of the mapping language, with quotes and escapes.
// unescape_string() does the reverse.
std::string quote_string(std::string_view value);

// Returns the name of a task or region as a statement writes it: plain, or in quotes if necessary.
// Returns nullopt for a name that no statement can write.
std::optional<std::string> name_as_written(std::string_view name);

}  // namespace groma::syntax
