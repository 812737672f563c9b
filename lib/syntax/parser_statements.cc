// Parses statements. The grammar rule of docs/language.md stands above the function that reads it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "syntax/parser_impl.h"

namespace groma::syntax {
namespace {

// Returns true if a broken statement defines a name. Such a statement stays in the tree without its
// value, so that uses of the name are not reported as further mistakes.
bool keep_name(Statement& made) {
  if (auto* assign = std::get_if<AssignStatement>(&made.node)) {
    assign->value = kNoExpr;
    return assign->target.id != kStarName;
  }
  auto* def = std::get_if<DefStatement>(&made.node);
  if (def != nullptr) def->body_broken = true;
  return def != nullptr && def->name.id != kStarName;
}

}  // namespace

// Reads one statement and appends it to `into`. A broken statement is kept only if it defines a
// name. Every call reads at least one token, so the caller's loop ends.
void Parser::statement(std::vector<Statement>& into, bool in_body) {
  if (++statement_count_ > kMaxStatements) {
    report_too_large(kMaxStatements, "statements");
    advance();
    return;
  }
  const std::uint32_t begin = token_.range.begin;
  if (control_word()) {
    control(into, in_body);
    if (token_.range.begin == begin) advance();  // guarantees progress
    return;
  }
  after_mistake_ = recovered_ && !token_.line_start;
  Statement made;
  const bool known = in_body ? body_statement(made) : top_statement(made);
  const bool complete = known && !panic_;
  const bool body_read = std::holds_alternative<DefStatement>(made.node) && !panic_;
  made.range = {begin, std::max(begin, last_end_)};
  if (!body_read) finish_statement(in_body);
  if (token_.range.begin == begin && !at(TokenKind::kRightBrace)) advance();  // guarantees progress
  made.end = std::max(begin, last_end_);
  // A statement is whole if neither its text nor its end had a mistake.
  const bool whole = complete && (body_read || !recovered_);
  if (in_body && !whole) body_broken_ = true;
  if (whole || keep_name(made)) into.push_back(made);
}

// Reads a statement outside functions. Returns false if there is no valid statement.
bool Parser::top_statement(Statement& made) {
  if (begins_statement() && at(TokenKind::kName)) return assign(made);
  if (reserved_target()) return assign(made);
  if (!at(TokenKind::kStatementWord)) return unknown_statement(made, false);
  const auto kind = static_cast<StatementKind>(token_.value);
  if (kind == StatementKind::kReturn) {
    // The `return` belongs to the function before, if that function's end was missing or was found
    // too early.
    if (expected_braces_ > 0 || body_broken_) panic_ = true;
    report(DiagId::kMisplacedStatement, token_.range, "return", "outside a function");
    // The recovery would stop at this token again, so it is skipped.
    advance();
    return false;
  }
  advance();
  switch (kind) {
    case StatementKind::kTask:
      return task(made);
    case StatementKind::kRegion:
      return region(made);
    case StatementKind::kLayout:
      return layout(made);
    case StatementKind::kInstanceLimit:
      return instance_limit(made);
    case StatementKind::kCollectMemory:
      return collect_memory(made);
    case StatementKind::kIndexTaskMap:
      return task_map(made, true);
    case StatementKind::kSingleTaskMap:
      return task_map(made, false);
    case StatementKind::kControlReplicate:
      return control_replicate(made);
    case StatementKind::kTaskSteal:
      return task_steal(made);
    case StatementKind::kPrint:
      return print(made);
    case StatementKind::kDef:
      return def(made);
    case StatementKind::kReturn:
    case StatementKind::kAssign:
      break;
  }
  return false;
}

// body : assign | print | return
bool Parser::body_statement(Statement& made) {
  if (begins_statement() && at(TokenKind::kName)) return assign(made);
  if (reserved_target()) return assign(made);
  if (at_word(StatementKind::kPrint)) {
    advance();
    return print(made);
  }
  if (at_word(StatementKind::kReturn)) {
    advance();
    ReturnStatement node;
    node.value = expression();
    made.node = node;
    return true;
  }
  if (at(TokenKind::kStatementWord)) {
    if (at_word(StatementKind::kDef)) return nested_def(true);
    report(DiagId::kMisplacedStatement, token_.range, text(token_.range), "in a function");
    advance();
    return false;
  }
  return unknown_statement(made, true);
}

// Reports a function inside a function as one mistake and reads all of it. `word`: the token is
// `def`, or a foreign word for it, which must be skipped.
bool Parser::nested_def(bool word) {
  NestingLevel level(*this);
  if (panic_) return false;
  diags_.report(DiagId::kMisplacedStatement, token_.range, "def", "in a function");
  if (word) advance();
  Statement nested;
  def(nested);
  panic_ = true;
  return false;
}

// Returns true at a reserved word in the place of an assignment's target: `GPU = 3`.
bool Parser::reserved_target() const {
  return is_word(token_.kind) && next_.kind == TokenKind::kAssign;
}

// Returns true at an assignment of another language, such as `m := x`, `m == x`, `m += x` or `m:
// int = x`, or at one without a sign.
bool Parser::looks_like_assignment() const {
  const bool sign = next_.kind == TokenKind::kColon || next_.kind == TokenKind::kEqual ||
                    binary_operator(next_.kind).has_value();
  return (at(TokenKind::kName) && sign && !next_.line_start) || lacks_assign();
}

// Returns true at an assignment whose `=` is missing: `m Machine(GPU)`, `m 3`, `m f(3)`.
bool Parser::lacks_assign() const {
  if (!at(TokenKind::kName) || next_.line_start) return false;
  const std::string_view after = text({next_.range.end, next_.range.end + 1});
  const bool call = next_.kind == TokenKind::kName && (after == "(" || after == "[");
  return next_.kind == TokenKind::kMachine || next_.kind == TokenKind::kInt ||
         next_.kind == TokenKind::kTrue || next_.kind == TokenKind::kFalse ||
         (call && !looks_like_statement());
}

// Returns true at a function without the word `def`: `function f(Task t) {`, `f(Task t) {`. The
// head must be on one line, of at most 1000 bytes.
bool Parser::looks_like_def() const {
  const bool word = at(TokenKind::kName) || at(TokenKind::kTypeWord);
  const bool two = word && next_.kind == TokenKind::kName && !next_.line_start;
  if (!two && (!at(TokenKind::kName) || next_.kind != TokenKind::kLeftParen)) return false;
  // The limit on the bytes of a function's head.
  constexpr std::uint32_t kLongest = 1000;
  std::string_view head =
      text({two ? next_.range.end : next_.range.begin, next_.range.end + kLongest});
  const auto skip = [&head](std::string_view characters) {
    head.remove_prefix(std::min(head.find_first_not_of(characters), head.size()));
  };
  skip(" \t");
  const std::size_t closing = head.find_first_of(")\n{};\"#");
  if (!head.starts_with('(') || closing == std::string_view::npos || head[closing] != ')') {
    return false;
  }
  head.remove_prefix(closing + 1);
  skip(" \t\r\n");
  return head.starts_with('{') || head.starts_with(':');
}

// Reports that `def` is missing, with a fix, and reads the function.
bool Parser::def_without_keyword(Statement& made, bool in_body) {
  const bool two = next_.kind != TokenKind::kLeftParen;
  if (in_body) return nested_def(two);
  Diagnostic& diagnostic = diags_.report(DiagId::kUnknownStatement, token_.range, describe(token_));
  diagnostic.help("a function begins with `def`");
  if (two) {
    diagnostic.fix({"write `def`", {{token_.range, "def"}}, true});
    advance();
  } else {
    diagnostic.fix({"insert `def`", {{{token_.range.begin, token_.range.begin}, "def "}}, true});
  }
  return def(made);
}

// Returns true at a control word of other languages: `if`, `else`, `elif`, `while`, `switch` or
// `for`.
bool Parser::control_word() const {
  if (next_.kind == TokenKind::kAssign) return false;
  if (!at(TokenKind::kName)) return at(TokenKind::kFor);
  const std::string_view word = text(token_.range);
  return word == "if" || word == "else" || word == "elif" || word == "while" || word == "switch";
}

// Reports a control word and reads the statements under it, so that mistakes in them are reported
// too. The statements are then dropped, except that the names they assign stay defined.
void Parser::control(std::vector<Statement>& into, bool in_body) {
  NestingLevel level(*this);
  if (!panic_) {
    const bool loop = at(TokenKind::kFor) || text(token_.range) == "while";
    report(DiagId::kUnknownStatement, token_.range, describe(token_))
        ->help(loop ? "`tuple(f(i) for i in t)` goes through a tuple"
                    : "choose with `condition ? a : b`");
    panic_ = false;
    const std::size_t column = indentation();
    std::vector<Statement> block;
    do {
      controlled(block, in_body, column);
    } while (at(TokenKind::kName) && control_word() && text(token_.range).starts_with("el"));
    for (Statement& made : block) {
      if (auto* assign = std::get_if<AssignStatement>(&made.node)) {
        assign->value = kNoExpr;
        assign->implied = true;
        into.push_back(made);
      }
    }
    panic_ = false;
    recovered_ = true;
  } else {
    finish_statement(in_body);
  }
  if (in_body) body_broken_ = true;
}

// Reads a condition and the statements that depend on it: a block in braces, or the rest of the
// line and the lines that are indented deeper than `column`.
void Parser::controlled(std::vector<Statement>& into, bool in_body, std::size_t column) {
  int open = 0;
  advance();
  while (!at(TokenKind::kEnd) && !at(TokenKind::kLeftBrace) && !at(TokenKind::kRightBrace)) {
    if (token_.line_start && (open <= 0 || begins_statement())) break;
    if (open <= 0 && (at(TokenKind::kColon) || at(TokenKind::kSemicolon) || begins_statement())) {
      break;
    }
    open += at(TokenKind::kLeftParen) || at(TokenKind::kLeftBracket);
    open -= at(TokenKind::kRightParen) || at(TokenKind::kRightBracket);
    advance();
  }
  recovered_ = false;
  accept(TokenKind::kColon);
  if (accept(TokenKind::kLeftBrace)) {
    while (!at(TokenKind::kEnd) && !at(TokenKind::kRightBrace) && !(in_body && leaves_body())) {
      statement(into, in_body);
    }
    accept(TokenKind::kRightBrace);
    return;
  }
  accept(TokenKind::kSemicolon);
  while (!at(TokenKind::kEnd) && !at(TokenKind::kRightBrace) &&
         (!token_.line_start || indentation() > column)) {
    statement(into, in_body);
  }
}

// Reports a line that begins no statement. If the line looks like a broken assignment, its name
// stays defined, so that uses of the name are not mistakes.
bool Parser::unknown_statement(Statement& made, bool in_body) {
  if (at(TokenKind::kError) || after_mistake_) panic_ = true;
  if (!panic_ && looks_like_def()) return def_without_keyword(made, in_body);
  if (!panic_ && looks_like_assignment() && !looks_like_statement()) {
    AssignStatement node;
    node.target = plain_name(Named::kVariable);
    node.implied = true;
    report_expected("`=`");
    made.node = node;
    return false;
  }
  if (Diagnostic* diagnostic = report(DiagId::kUnknownStatement, token_.range, describe(token_))) {
    if (at(TokenKind::kName)) {
      suggest(*diagnostic, token_.range, TokenKind::kStatementWord);
    }
    if (at(TokenKind::kEqual)) diagnostic->help("remove this line; a comment begins with `#`");
    if (at(TokenKind::kSemicolon)) diagnostic->fix({"remove it", {{token_.range, ""}}, true});
  }
  AssignStatement node;
  node.implied = true;
  const auto take = [&] {
    node.target = {tree_.table.intern(text(token_.range)), token_.range};
    made.node = node;
  };
  // The line may have been meant to define this name.
  if (at(TokenKind::kName) && next_.kind != TokenKind::kLeftParen) take();
  // A `;` ends the recovery, so it is not skipped.
  if (!at(TokenKind::kSemicolon)) advance();
  const bool assigns = next_.kind == TokenKind::kAssign && !token_.line_start;
  // Other languages write `let m = x` or `int m = x`.
  if (at(TokenKind::kName) && assigns) take();
  return false;
}

// task : Task NAMES PROC (',' PROC)*
bool Parser::task(Statement& made) {
  TaskStatement node;
  node.names = names("task", token_is_proc());
  node.procs = word_list(TokenKind::kProcWord);
  made.node = node;
  return true;
}

// region : Region NAMES WHICH PLACE MEM (',' MEM)*
bool Parser::region(Statement& made) {
  RegionStatement node;
  node.names = names("task");
  node.which = which();
  node.place = place(false);
  node.memories = word_list(TokenKind::kMemWord);
  made.node = node;
  return true;
}

// layout : Layout NAMES WHICH PLACE constraint*
bool Parser::layout(Statement& made) {
  LayoutStatement node;
  node.names = names("task");
  node.which = which();
  node.place = place(true);
  node.constraints = constraints();
  made.node = node;
  return true;
}

// limit : InstanceLimit NAMES [PROC] INT [SAME_NODE | Machine]
bool Parser::instance_limit(Statement& made) {
  InstanceLimitStatement node;
  node.names = names("task", token_is_proc());
  const bool kind = is_word(token_.kind) && !at_next_statement();
  if (!panic_ && kind) node.proc = kind_word(TokenKind::kProcWord, false);
  node.limit = integer("the number of instances that may run at a time");
  if (!panic_) node.scope = limit_scope();
  made.node = node;
  return true;
}

// Reads the optional scope of a limit; the default is per processor. No statement begins with one
// of these words, so they may stand on the next line.
LimitScope Parser::limit_scope() {
  if (accept(TokenKind::kMachine)) return LimitScope::kMachine;
  const bool same_node =
      at(TokenKind::kScopeWord) && static_cast<StealScope>(token_.value) == StealScope::kSameNode;
  if (same_node) {
    advance();
    return LimitScope::kNode;
  }
  const bool wrong_word = at(TokenKind::kScopeWord) ||
                          (at(TokenKind::kName) && !token_.line_start && !begins_statement());
  if (!wrong_word) return LimitScope::kProcessor;
  constexpr std::array<std::string_view, 2> kScopes = {"SAME_NODE", "Machine"};
  Diagnostic* diagnostic =
      report(DiagId::kExpectedToken, token_.range,
             "`SAME_NODE`, `Machine` or the end of the statement", describe(token_));
  if (at(TokenKind::kScopeWord)) {
    diagnostic->help("write `Machine` to count the instances on all nodes together");
  } else {
    suggest(*diagnostic, token_.range, kScopes);
  }
  return LimitScope::kProcessor;
}

// collect : CollectMemory NAMES WHICH
bool Parser::collect_memory(Statement& made) {
  CollectMemoryStatement node;
  node.names = names("task");
  node.which = which();
  made.node = node;
  return true;
}

// indexmap : IndexTaskMap (NAMES | PROC) NAME
// singlemap : SingleTaskMap (NAMES | PROC) NAME
bool Parser::task_map(Statement& made, bool index) {
  TaskMapStatement node;
  node.index = index;
  const bool path = next_.kind == TokenKind::kDot || next_.kind == TokenKind::kColonColon;
  if (at(TokenKind::kProcWord) && !path) {
    node.proc = kind_word(TokenKind::kProcWord, false);
  } else {
    node.names = names("task");
  }
  node.function = plain_name(Named::kFunction);
  made.node = node;
  return true;
}

// replicate : ControlReplicate NAMES
bool Parser::control_replicate(Statement& made) {
  ControlReplicateStatement node;
  node.names = names("task");
  made.node = node;
  return true;
}

// steal : TaskSteal NAMES PROC (SAME_NODE | ANY_NODE)
bool Parser::task_steal(Statement& made) {
  TaskStealStatement node;
  node.names = names("task", token_is_proc());
  node.proc = kind_word(TokenKind::kProcWord, false);
  if (!panic_) {
    if (at(TokenKind::kScopeWord)) {
      node.scope = static_cast<StealScope>(token_.value);
      advance();
    } else if (at(TokenKind::kName) && !at_next_statement()) {
      suggest(*report(DiagId::kExpectedToken, token_.range, "`SAME_NODE` or `ANY_NODE`",
                      describe(token_)),
              token_.range, TokenKind::kScopeWord);
    } else {
      report_expected("`SAME_NODE` or `ANY_NODE`");
    }
  }
  made.node = node;
  return true;
}

// assign : NAME '=' expr
bool Parser::assign(Statement& made) {
  AssignStatement node;
  node.target = plain_name(Named::kVariable);
  expect(TokenKind::kAssign);
  node.value = expression();
  made.node = node;
  return true;
}

// print : print '(' STRING (',' expr)* ')'
bool Parser::print(Statement& made) {
  PrintStatement node;
  const std::uint32_t open = token_.range.begin;
  if (!expect(TokenKind::kLeftParen)) return true;
  ++brackets_;
  node.text = token_.range;
  if (at(TokenKind::kString)) {
    advance();
  } else {
    report_expected("a string between double quotes");
  }
  const std::size_t first = pending_.size();
  while (!panic_ && accept(TokenKind::kComma)) pending_.push_back(expression());
  node.args = take_pending(first);
  close_bracket(TokenKind::kRightParen, open);
  made.node = node;
  return true;
}

// def : def NAME '(' [param (',' param)*] ')' ( '{' body* '}' | ':' body* return )
bool Parser::def(Statement& made) {
  DefStatement node;
  node.name = plain_name(Named::kFunction);
  node.params = params();
  node.head_broken = panic_;
  node.exprs.begin = static_cast<std::uint32_t>(tree_.exprs.size());
  made.node = node;
  if (panic_ && !skip_to_body()) return true;
  panic_ = body_broken_ = false;
  std::vector<Statement> body;
  const auto first_expr = static_cast<std::uint32_t>(tree_.exprs.size());
  const Token opening = token_;
  if (accept(TokenKind::kLeftBrace)) {
    braced_body(body, opening);
  } else if (at(TokenKind::kColon) && next_.kind == TokenKind::kLeftBrace) {
    diags_.report(DiagId::kExpectedToken, token_.range, "`{`", "`:`")
        .fix({"remove the `:`", {{token_.range, ""}}, true});
    advance();
    const Token brace = token_;
    advance();
    braced_body(body, brace);
  } else if (accept(TokenKind::kColon)) {
    colon_body(body, opening, node.name);
  } else {
    report_expected("`{`");
    body_broken_ = true;
    body_without_brace(body);
  }
  node.body_broken = body_broken_ || panic_;
  node.body = {static_cast<std::uint32_t>(tree_.bodies.size()),
               static_cast<std::uint32_t>(body.size())};
  node.exprs = {first_expr, static_cast<std::uint32_t>(tree_.exprs.size()) - first_expr};
  std::move(body.begin(), body.end(), std::back_inserter(tree_.bodies));
  made.node = node;
  return !node.head_broken;
}

// Reads the body of a function whose `{` is missing or comes late, so that its statements are not
// taken for the program's own. Without any `{`, the body ends at its first `return`.
void Parser::body_without_brace(std::vector<Statement>& body) {
  if (skip_to_body()) {
    const Token opening = token_;
    panic_ = false;
    advance();
    braced_body(body, opening);
    return;
  }
  panic_ = false;
  recovered_ = true;
  bool returned = false;
  const auto at_body = [this] {
    return at_word(StatementKind::kPrint) || at_word(StatementKind::kReturn) ||
           (at(TokenKind::kName) && begins_statement());
  };
  while (!returned && at_body()) {
    returned = at_word(StatementKind::kReturn);
    statement(body, true);
  }
  if (returned) accept(TokenKind::kRightBrace);
  accept(TokenKind::kSemicolon);
}

// After a mistake in a function's head, skips to its `{`. Returns false if the next statement
// begins first.
bool Parser::skip_to_body() {
  while (!at(TokenKind::kEnd) && !at(TokenKind::kRightBrace) && !at(TokenKind::kSemicolon)) {
    if (at(TokenKind::kLeftBrace)) return true;
    if (token_.line_start && begins_statement()) return false;
    advance();
  }
  return false;
}

// Returns true if an unindented statement that is not allowed in functions begins here, such as
// `Region`. The function's closing brace is then missing.
bool Parser::leaves_body() const {
  const bool others = at(TokenKind::kStatementWord) && !at_word(StatementKind::kPrint) &&
                      !at_word(StatementKind::kReturn);
  return token_.line_start && others && indentation() == 0;
}

// Reads the statements of a body up to `}`. If the brace is missing, the report points at
// `opening`.
void Parser::braced_body(std::vector<Statement>& body, const Token& opening) {
  while (!at(TokenKind::kEnd) && !at(TokenKind::kRightBrace)) {
    if (leaves_body()) break;
    statement(body, true);
  }
  if (accept(TokenKind::kRightBrace)) return;
  diags_.report(DiagId::kUnclosedBracket, token_.range, "}", describe(token_))
      .note("the function's body begins here", opening.range);
  ++expected_braces_;
  recovered_ = body_broken_ = true;
}

// Reads a body after `:`, the form of the paper, up to its first `return`. This form gives a
// warning with a fix that writes braces. A body without `return` is an error.
void Parser::colon_body(std::vector<Statement>& body, const Token& opening, const Name& name) {
  bool returned = false;
  while (!returned && !at(TokenKind::kEnd) && !at(TokenKind::kRightBrace)) {
    const bool body_word = at_word(StatementKind::kPrint) || at_word(StatementKind::kReturn);
    if (at(TokenKind::kStatementWord) && !body_word) break;
    const bool is_return = at_word(StatementKind::kReturn);
    statement(body, true);
    returned = is_return;
  }
  if (recovered_ && !returned) return;
  if (!returned) {
    diags_.report(DiagId::kMissingReturn, name.range, text(name.range))
        .note("a body after `:` ends with its first `return`, and there is none");
    body.clear();
    panic_ = recovered_ = true;
    return;
  }
  diags_.report(DiagId::kColonBody, opening.range)
      .note("the original language does not take this form")
      .fix({"write braces", {{opening.range, " {"}, {{last_end_, last_end_}, "\n}"}}, true});
}

}  // namespace groma::syntax
