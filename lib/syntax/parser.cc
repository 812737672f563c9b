// Tokens, mistakes and recovery. Entry point: parse, at the end.
#include "syntax/parser.h"

#include <fmt/format.h>

#include <algorithm>

#include "groma/spelling.h"
#include "syntax/parser_impl.h"

namespace groma::syntax {
namespace {

std::vector<std::string_view> words_of(TokenKind kind) {
  std::vector<std::string_view> words;
  for (const ReservedWord& word : reserved_words()) {
    if (word.kind == kind) words.push_back(word.text);
  }
  return words;
}

}  // namespace

Parser::Parser(const Source& source, Diagnostics& diags, bool keep_comments)
    : diags_(diags), lexer_(source, diags, keep_comments ? &tree_.comments : nullptr) {
  tree_.source = source;
  // Room for an ordinary text of this size, so that the vectors need not grow step by step.
  const std::size_t bytes = std::min<std::size_t>(source.text().size(), std::size_t{1} << 20);
  tree_.exprs.reserve(bytes / 10);
  tree_.lists.reserve(bytes / 40);
  tree_.names.reserve(bytes / 40);
  tree_.words.reserve(bytes / 40);
  tree_.statements.reserve(bytes / 32);
  tree_.table.reserve(bytes / 32);
  token_ = lexer_.next();
  next_ = lexer_.next();
}

Tree Parser::run() {
  while (token_.kind != TokenKind::kEnd) {
    if (token_.kind == TokenKind::kRightBrace) {
      if (expected_braces_ > 0) {
        --expected_braces_;
      } else if (!recovered_) {
        report_expected("a statement");
      }
      panic_ = false;
      recovered_ = true;
      advance();
      continue;
    }
    statement(tree_.statements, false);
  }
  if (tree_.statements.empty() && !diags_.has_errors()) {
    diags_.report(DiagId::kEmptyProgram, std::nullopt)
        .note("every decision is then the default mapper's");
  }
  return std::move(tree_);
}

void Parser::advance() {
  last_end_ = token_.range.end;
  last_kind_ = token_.kind;
  if (diags_.full() || stopped_) {
    token_ = next_ = Token{TokenKind::kEnd, 0, true, {last_end_, last_end_}};
    return;
  }
  token_ = next_;
  next_ = lexer_.next();
}

bool Parser::at_word(StatementKind kind) const {
  return at(TokenKind::kStatementWord) && token_.value == static_cast<std::uint8_t>(kind);
}

bool Parser::accept(TokenKind kind) {
  if (!at(kind)) return false;
  advance();
  return true;
}

// Reads `kind` or reports that it is missing.
bool Parser::expect(TokenKind kind) {
  if (panic_) return false;
  if (accept(kind)) return true;
  report_expected(fmt::format("`{}`", spelling(kind)));
  return false;
}

// The token in words, for "found ...".
std::string Parser::describe(const Token& token) const {
  if (token.kind == TokenKind::kEnd) return "the end of the file";
  const std::string_view shown = text(token.range);
  if (shown.size() <= 40) return fmt::format("`{}`", shown);
  if (token.kind == TokenKind::kString) return "a string";
  return token.kind == TokenKind::kInt ? "an integer" : "a long name";
}

// A token that begins a statement wherever it stands in a line.
bool Parser::begins_statement() const {
  return at(TokenKind::kStatementWord) ||
         (at(TokenKind::kName) && next_.kind == TokenKind::kAssign);
}

// A misspelt statement word: `task a GPU`. To be asked at a line's start after a mistake.
bool Parser::near_statement() const {
  const bool follows = next_.kind == TokenKind::kName || next_.kind == TokenKind::kStar ||
                       next_.kind == TokenKind::kProcWord || next_.kind == TokenKind::kString;
  if (!at(TokenKind::kName) || !follows || next_.line_start) return false;
  return near_word(TokenKind::kStatementWord);
}

// A name that a word of the kind was probably meant by.
bool Parser::near_word(TokenKind kind) const {
  return at(TokenKind::kName) && !near_names(text(token_.range), words_of(kind)).empty();
}

// A word at the very start of a line; what continues a statement is mostly indented.
bool Parser::unindented_word() const {
  const std::uint32_t begin = token_.range.begin;
  return token_.line_start && is_word(token_.kind) && last_kind_ != TokenKind::kComma &&
         (begin == 0 || text({begin - 1, begin}) == "\n");
}

// How far from its line's start the token stands, in bytes.
std::size_t Parser::indentation() const {
  const std::string_view before = tree_.source.text().substr(0, token_.range.begin);
  const std::size_t newline = before.rfind('\n');
  return newline == std::string_view::npos ? before.size() : before.size() - newline - 1;
}

// One at a line's start outside brackets: what is missing before it is one mistake.
bool Parser::at_next_statement() const {
  return token_.line_start && brackets_ == 0 && begins_statement();
}

void Parser::report_expected(std::string_view what) {
  if (at(TokenKind::kError)) {  // the lexer has spoken
    panic_ = true;
    panic_brackets_ = brackets_;
  }
  Diagnostic* diagnostic = report(DiagId::kExpectedToken, token_.range, what, describe(token_));
  if (diagnostic != nullptr && at(TokenKind::kName) && text(token_.range) == "if") {
    diagnostic->help("choose with `condition ? a : b`");
  }
}

void Parser::report_too_large(std::size_t limit, std::string_view what) {
  report(DiagId::kProgramTooLarge, token_.range, limit, what);
  stopped_ = true;
}

// The words that could stand for the mistyped one; all of them when none is near.
void Parser::suggest(Diagnostic& diagnostic, Range range,
                     std::span<const std::string_view> candidates) {
  if (groma::suggest(diagnostic, text(range), candidates, range)) return;
  diagnostic.note(fmt::format("there are {}", join_names(candidates, "and")));
}

void Parser::suggest(Diagnostic& diagnostic, Range range, TokenKind kind) {
  suggest(diagnostic, range, words_of(kind));
}

// A statement word that nothing follows which its statement could begin with: `f(print)`.
bool Parser::stands_alone() const {
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

// Skips to where the next statement can begin.
void Parser::synchronize(bool in_body) {
  const bool inside = panic_brackets_ > 0;
  int open = panic_brackets_;
  if (stopped_) advance();
  while (!at(TokenKind::kEnd) && !at(TokenKind::kRightBrace)) {
    if (accept(TokenKind::kSemicolon)) return;
    if (token_.line_start && (begins_statement() || reserved_target() || near_statement())) return;
    if (!in_body && !inside && unindented_word()) return;
    if (token_.line_start && !inside && lacks_assign()) return;
    // In the middle of a line `Task` may be a parameter's type.
    if (at(TokenKind::kStatementWord) && !at_word(StatementKind::kTask) && open <= 0 &&
        !stands_alone() && (in_body || !at_word(StatementKind::kReturn))) {
      return;
    }
    open += at(TokenKind::kLeftParen) || at(TokenKind::kLeftBracket);
    open -= at(TokenKind::kRightParen) || at(TokenKind::kRightBracket);
    advance();
  }
}

// A statement ends at `;`, before `}`, or at a line's end.
void Parser::finish_statement(bool in_body) {
  if (after_mistake_ && (at(TokenKind::kRightParen) || at(TokenKind::kRightBracket))) {
    panic_ = true;  // what the `;` before it tore apart
  }
  recovered_ = panic_;
  brackets_ = 0;
  if (panic_) {
    panic_ = false;
    synchronize(in_body);
    return;
  }
  if (accept(TokenKind::kSemicolon)) return;
  if (at(TokenKind::kRightBrace) || at(TokenKind::kEnd) || token_.line_start) return;
  if (begins_statement()) {
    diags_.report(DiagId::kMissingSemicolon, token_.range, describe(token_))
        .note("two statements on one line need a `;` between them")
        .fix({"insert `;`", {{{last_end_, last_end_}, ";"}}, true});
    return;
  }
  report_expected("`;` or the end of the line");
  finish_statement(in_body);
}

Tree parse(const Source& source, Diagnostics& diags, bool keep_comments) {
  return Parser(source, diags, keep_comments).run();
}

}  // namespace groma::syntax
