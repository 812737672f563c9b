// The parser's common part: reading tokens, reporting mistakes, and recovering after them. Entry
// point: parse, at the end. parser_impl.h explains the recovery.
#include "syntax/parser.h"

#include <fmt/format.h>

#include <algorithm>

#include "groma/spelling.h"
#include "syntax/parser_impl.h"

namespace groma::syntax {
namespace {

// Returns the reserved words of one token kind, as candidates for suggestions.
std::vector<std::string_view> words_of(TokenKind kind) {
  std::vector<std::string_view> words;
  for (const ReservedWord& word : reserved_words()) {
    if (word.kind == kind) words.push_back(word.text);
  }
  return words;
}

}  // namespace

// Reads the first two tokens: the parser looks one token ahead of the current one.
Parser::Parser(const Source& source, Diagnostics& diags, bool keep_comments)
    : diags_(diags), lexer_(source, diags, keep_comments ? &tree_.comments : nullptr) {
  tree_.source = source;
  // Reserve memory for as many nodes as a text of this size ordinarily has, so that the vectors
  // need not grow step by step. At most 1 MiB of text is taken into account.
  const std::size_t bytes = std::min<std::size_t>(source.text().size(), std::size_t{1} << 20);
  tree_.exprs.reserve(bytes / 10);
  tree_.expr_lists.reserve(bytes / 40);
  tree_.names.reserve(bytes / 40);
  tree_.kind_words.reserve(bytes / 40);
  tree_.statements.reserve(bytes / 32);
  tree_.name_table.reserve(bytes / 32);
  token_ = lexer_.next_token();
  next_ = lexer_.next_token();
}

// Reads all statements. A `}` that closes nothing is a mistake unless its opening brace was part of
// a mistake that was reported before. A text without statements gives a note.
Tree Parser::parse_program() {
  while (token_.kind != TokenKind::kEnd) {
    if (token_.kind == TokenKind::kRightBrace) {
      if (expected_braces_ > 0) {
        --expected_braces_;
      } else if (!recovered_) {
        report_expected("a statement");
      }
      panic_ = false;
      recovered_ = true;
      advance_token();
      continue;
    }
    parse_statement(tree_.statements, false);
  }
  if (tree_.statements.empty() && !diags_.has_errors()) {
    diags_.report(DiagId::kEmptyProgram, std::nullopt)
        .note("every decision is then the default mapper's");
  }
  return std::move(tree_);
}

// Moves on by one token. Once a limit has been passed or enough mistakes have been reported, every
// further token is the end.
void Parser::advance_token() {
  last_end_ = token_.range.end;
  last_kind_ = token_.kind;
  if (diags_.full() || stopped_) {
    token_ = next_ = Token{TokenKind::kEnd, 0, true, {last_end_, last_end_}};
    return;
  }
  token_ = next_;
  next_ = lexer_.next_token();
}

// Returns true if the current token is the statement word of this kind.
bool Parser::at_statement_word(StatementKind kind) const {
  return at_token(TokenKind::kStatementWord) && token_.value == static_cast<std::uint8_t>(kind);
}

// If the current token has this kind, reads it and returns true. Otherwise reads nothing.
bool Parser::accept_token(TokenKind kind) {
  if (!at_token(kind)) return false;
  advance_token();
  return true;
}

// If the current token has this kind, reads it and returns true. Otherwise reports that the token
// is missing.
bool Parser::expect_token(TokenKind kind) {
  if (panic_) return false;
  if (accept_token(kind)) return true;
  report_expected(fmt::format("`{}`", spelling_of(kind)));
  return false;
}

// Returns the token as a message shows it after "found". Long texts are named, not shown.
std::string Parser::describe_token(const Token& token) const {
  if (token.kind == TokenKind::kEnd) return "the end of the file";
  const std::string_view shown = source_text(token.range);
  if (shown.size() <= 40) return fmt::format("`{}`", shown);
  if (token.kind == TokenKind::kString) return "a string";
  return token.kind == TokenKind::kInt ? "an integer" : "a long name";
}

// Returns true if the current token begins a statement wherever it stands in a line: if it is a
// statement word, or a name before `=`.
bool Parser::begins_statement() const {
  return at_token(TokenKind::kStatementWord) ||
         (at_token(TokenKind::kName) && next_.kind == TokenKind::kAssign);
}

// Returns true if the current token is probably a misspelt statement word, as in `task a GPU`. Only
// valid at the start of a line, after a mistake.
bool Parser::looks_like_statement() const {
  const bool follows = next_.kind == TokenKind::kName || next_.kind == TokenKind::kStar ||
                       next_.kind == TokenKind::kProcWord || next_.kind == TokenKind::kString;
  if (!at_token(TokenKind::kName) || !follows || next_.line_start) return false;
  return looks_like_word(TokenKind::kStatementWord);
}

// Returns true if the current token is a name that is probably a misspelt word of this kind.
bool Parser::looks_like_word(TokenKind kind) const {
  return at_token(TokenKind::kName) &&
         !near_names(source_text(token_.range), words_of(kind)).empty();
}

// Returns true if a word stands in the first column of a line. The continuation of a statement is
// usually indented, or follows a comma.
bool Parser::at_word_in_first_column() const {
  const std::uint32_t begin = token_.range.begin;
  return token_.line_start && is_word(token_.kind) && last_kind_ != TokenKind::kComma &&
         (begin == 0 || source_text({begin - 1, begin}) == "\n");
}

// Returns the distance of the token from the start of its line, in bytes.
std::size_t Parser::token_indentation() const {
  const std::string_view before = tree_.source.text().substr(0, token_.range.begin);
  const std::size_t newline = before.rfind('\n');
  return newline == std::string_view::npos ? before.size() : before.size() - newline - 1;
}

// Returns true if a statement begins at this token, on a line of its own and outside brackets. If
// something is missing there, the mistake belongs to the statement before.
bool Parser::at_next_statement() const {
  return token_.line_start && brackets_ == 0 && begins_statement();
}

// Adds a help to the first error of a statement in which a `*` stands directly before a name.
// Returns true if there is one.
bool Parser::help_with_pattern(Diagnostic& diagnostic) {
  if (!star_before_name_) return false;
  star_before_name_ = false;
  diagnostic.help("a name pattern does not begin with `*`: a letter or `_` comes first");
  return true;
}

// Reports that `what` was expected here. An error token was already reported by the lexer, so the
// rest of its statement is skipped silently.
void Parser::report_expected(std::string_view what) {
  if (at_token(TokenKind::kError)) {
    panic_ = true;
    panic_brackets_ = brackets_;
  }
  Diagnostic* diagnostic =
      report(DiagId::kExpectedToken, token_.range, what, describe_token(token_));
  if (diagnostic != nullptr && at_token(TokenKind::kName) && source_text(token_.range) == "if") {
    diagnostic->help("choose with `condition ? a : b`");
  }
}

// Reports that the program exceeds one of its limits, and ends the parsing.
void Parser::report_exceeded_limit(std::size_t limit, std::string_view what) {
  report(DiagId::kProgramTooLarge, token_.range, limit, what);
  stopped_ = true;
}

// Suggests the candidates that are spelled like the text at `range`. If none is similar, a note
// lists all.
void Parser::suggest_spellings(Diagnostic& diagnostic, Range range,
                               std::span<const std::string_view> candidates) {
  if (groma::suggest(diagnostic, source_text(range), candidates, range)) return;
  diagnostic.note(fmt::format("there are {}", join_names(candidates, "and")));
}

// Suggests the reserved words of this kind that are spelled like the text at `range`. If none is
// similar, a note lists all of them.
void Parser::suggest_spellings(Diagnostic& diagnostic, Range range, TokenKind kind) {
  suggest_spellings(diagnostic, range, words_of(kind));
}

// Returns true if the current token, a statement word, cannot begin a statement because nothing
// suitable follows it, as in `f(print)`.
bool Parser::statement_word_stands_alone() const {
  if (next_.line_start) return true;
  switch (next_.kind) {
    case TokenKind::kRightParen:
    case TokenKind::kRightBracket:
    case TokenKind::kRightBrace:
    case TokenKind::kComma:
    case TokenKind::kSemicolon:
    case TokenKind::kEnd:
      return true;
    default:
      return false;
  }
}

// Skips tokens up to a place where the next statement can begin: behind a `;`, at a line that
// begins a statement, or at a statement word outside the brackets that were open at the mistake.
// `in_body`: the mistake was in a function.
void Parser::skip_to_next_statement(bool in_body) {
  const bool inside = panic_brackets_ > 0;
  int open = panic_brackets_;
  if (stopped_) advance_token();
  while (!at_token(TokenKind::kEnd) && !at_token(TokenKind::kRightBrace)) {
    if (accept_token(TokenKind::kSemicolon)) return;
    if (token_.line_start && (begins_statement() || at_reserved_target() || looks_like_statement()))
      return;
    if (!in_body && !inside && at_word_in_first_column()) return;
    if (token_.line_start && !inside && lacks_assign_sign()) return;
    // `Task` in the middle of a line may be the type of a parameter, so the parser does not stop
    // there.
    if (at_token(TokenKind::kStatementWord) && !at_statement_word(StatementKind::kTask) &&
        open <= 0 && !statement_word_stands_alone() &&
        (in_body || !at_statement_word(StatementKind::kReturn))) {
      return;
    }
    open += at_token(TokenKind::kLeftParen) || at_token(TokenKind::kLeftBracket);
    open -= at_token(TokenKind::kRightParen) || at_token(TokenKind::kRightBracket);
    advance_token();
  }
}

// Ends a statement at `;`, before `}`, or at a line's end. After a mistake the rest of the
// statement is skipped instead.
void Parser::finish_statement(bool in_body) {
  if (after_mistake_ && (at_token(TokenKind::kRightParen) || at_token(TokenKind::kRightBracket))) {
    // A `;` in a wrong place ended the statement before, and the tokens that follow are its rest.
    panic_ = true;
  }
  recovered_ = panic_;
  brackets_ = 0;
  if (panic_) {
    panic_ = false;
    skip_to_next_statement(in_body);
    return;
  }
  if (accept_token(TokenKind::kSemicolon)) return;
  if (at_token(TokenKind::kRightBrace) || at_token(TokenKind::kEnd) || token_.line_start) return;
  if (begins_statement()) {
    diags_.report(DiagId::kMissingSemicolon, token_.range, describe_token(token_))
        .note("two statements on one line need a `;` between them")
        .fix({"insert `;`", {{{last_end_, last_end_}, ";"}}, true});
    return;
  }
  report_expected("`;` or the end of the line");
  finish_statement(in_body);
}

Tree parse(const Source& source, Diagnostics& diags, bool keep_comments) {
  return Parser(source, diags, keep_comments).parse_program();
}

}  // namespace groma::syntax
