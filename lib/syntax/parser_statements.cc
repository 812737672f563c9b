// Parses statements. The grammar rule of docs/language.md stands above the function that reads it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "syntax/parser_impl.h"

namespace groma::syntax {
namespace {

// Returns true if a statement with a mistake defines a name. Such a statement stays in the tree
// without its value, so that uses of the name are not reported as further mistakes.
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
void Parser::parse_statement(std::vector<Statement>& into, bool in_body) {
  if (++statement_count_ > kMaxStatements) {
    report_exceeded_limit(kMaxStatements, "statements");
    advance_token();
    return;
  }
  const std::uint32_t begin = token_.range.begin;
  if (!in_body && at_when()) return parse_when(into);
  if (at_control_word()) {
    parse_control_word(into, in_body);
    // The caller's loop ends only if every call reads at least one token.
    if (token_.range.begin == begin) advance_token();
    return;
  }
  after_mistake_ = recovered_ && !token_.line_start;
  Statement made;
  const bool known = in_body ? parse_body_statement(made) : parse_top_statement(made);
  const bool complete = known && !panic_;
  const bool body_read = std::holds_alternative<DefStatement>(made.node) && !panic_;
  made.range = {begin, std::max(begin, last_end_)};
  if (!body_read) finish_statement(in_body);
  if (token_.range.begin == begin && !at_token(TokenKind::kRightBrace))
    advance_token();  // Every call must read at least one token.
  made.end = std::max(begin, last_end_);
  made.when = in_body ? 0 : when_;
  separate_star_.reset();
  star_before_name_ = false;
  // A statement is complete if neither its text nor its end had a mistake.
  const bool whole = complete && (body_read || !recovered_);
  if (in_body && !whole) body_broken_ = true;
  if (whole || keep_name(made)) into.push_back(made);
}

// Reads a statement outside functions. Returns false if there is no valid statement.
bool Parser::parse_top_statement(Statement& made) {
  if (begins_statement() && at_token(TokenKind::kName)) return parse_assign(made);
  if (at_reserved_target()) return parse_assign(made);
  if (!at_token(TokenKind::kStatementWord)) return report_unknown_statement(made, false);
  const auto kind = static_cast<StatementKind>(token_.value);
  if (kind == StatementKind::kReturn) {
    // The `return` probably belongs to the function before, if that function's end was missing or
    // was found too early. Then it is not reported as a further mistake.
    if (expected_braces_ > 0 || body_broken_) panic_ = true;
    report(DiagId::kMisplacedStatement, token_.range, "return", "outside a function");
    // The recovery would stop at this token again, so it is skipped.
    advance_token();
    return false;
  }
  advance_token();
  switch (kind) {
    case StatementKind::kTask:
      return parse_task(made);
    case StatementKind::kRegion:
      return parse_region(made);
    case StatementKind::kLayout:
      return parse_layout(made);
    case StatementKind::kInstanceLimit:
      return parse_instance_limit(made);
    case StatementKind::kCollectMemory:
      return parse_collect_memory(made);
    case StatementKind::kIndexTaskMap:
      return parse_task_map(made, true);
    case StatementKind::kSingleTaskMap:
      return parse_task_map(made, false);
    case StatementKind::kControlReplicate:
      return parse_control_replicate(made);
    case StatementKind::kTaskSteal:
      return parse_task_steal(made);
    case StatementKind::kPrint:
      return parse_print(made);
    case StatementKind::kDef:
      return parse_def(made);
    case StatementKind::kReturn:
    case StatementKind::kAssign:
    case StatementKind::kWhen:
      break;
  }
  return false;
}

// Returns true at the head of a `when` block. `when` is not reserved: no other statement begins
// with this name, except an assignment to it.
bool Parser::at_when() const {
  return at_token(TokenKind::kName) && next_.kind != TokenKind::kAssign &&
         source_text(token_.range) == "when";
}

// Returns true at an assignment, a `print` or a function, which cannot stand in a `when` block.
bool Parser::at_definition() const {
  return at_statement_word(StatementKind::kDef) || at_statement_word(StatementKind::kPrint) ||
         (begins_statement() && at_token(TokenKind::kName));
}

// when : 'when' expr '{' decision* '}'
// Appends the head, then the statements of the block.
void Parser::parse_when(std::vector<Statement>& into) {
  const NestingLevel level(*this);
  const Range word = token_.range;
  const std::uint32_t outer = when_;
  if (outer != 0) {
    diags_.report(DiagId::kMisplacedStatement, word, "when", "in a `when` block")
        .help("write one block, and join the conditions with `&&`");
  }
  advance_token();
  if (panic_) return finish_statement(false);  // Nested too deep.
  WhenStatement node;
  node.condition = parse_expression();
  if (!panic_ && !at_token(TokenKind::kLeftBrace)) report_expected("`{`");
  const std::size_t head = into.size();
  into.emplace_back();
  brackets_ = 0;
  recovered_ = panic_;
  if (!panic_ || skip_to_function_body()) {
    const Token opening = token_;
    panic_ = recovered_ = false;
    advance_token();
    when_ = static_cast<std::uint32_t>(head) + 1;
    while (!at_token(TokenKind::kEnd) && !at_token(TokenKind::kRightBrace)) {
      if (at_definition()) {
        // In the first column, it probably stands behind the block, whose `}` is missing.
        if (token_.line_start && token_indentation() == 0) break;
        const bool assigns = at_token(TokenKind::kName);
        diags_
            .report(DiagId::kMisplacedStatement, token_.range,
                    fmt::format("{}{}", source_text(token_.range), assigns ? " =" : ""),
                    "in a `when` block")
            .help(assigns
                      ? "assign outside the block, and choose the value with `condition ? a : b`"
                      : "write it outside the block");
      }
      parse_statement(into, false);
    }
    if (!accept_token(TokenKind::kRightBrace)) {
      diags_.report(DiagId::kUnclosedBracket, token_.range, "}", describe_token(token_))
          .note("the `when` block begins here", opening.range);
      recovered_ = true;
    }
  }
  panic_ = false;
  when_ = outer;
  node.count = static_cast<std::uint32_t>(into.size() - head - 1);
  into[head].node = node;
  into[head].range = {word.begin, last_end_};
  into[head].end = last_end_;
}

// body : assign | print | return
bool Parser::parse_body_statement(Statement& made) {
  if (begins_statement() && at_token(TokenKind::kName)) return parse_assign(made);
  if (at_reserved_target()) return parse_assign(made);
  if (at_statement_word(StatementKind::kPrint)) {
    advance_token();
    return parse_print(made);
  }
  if (at_statement_word(StatementKind::kReturn)) {
    advance_token();
    ReturnStatement node;
    node.value = parse_expression();
    made.node = node;
    return true;
  }
  if (at_token(TokenKind::kStatementWord)) {
    if (at_statement_word(StatementKind::kDef)) return report_nested_def(true);
    report(DiagId::kMisplacedStatement, token_.range, source_text(token_.range), "in a function");
    advance_token();
    return false;
  }
  return report_unknown_statement(made, true);
}

// Reports a function inside a function as one mistake and reads all of it. `word`: the token is
// `def`, or a foreign word for it, which must be skipped.
bool Parser::report_nested_def(bool word) {
  NestingLevel level(*this);
  if (panic_) return false;
  diags_.report(DiagId::kMisplacedStatement, token_.range, "def", "in a function");
  if (word) advance_token();
  Statement nested;
  parse_def(nested);
  panic_ = true;
  return false;
}

// Returns true at a reserved word in the place of an assignment's target: `GPU = 3`.
bool Parser::at_reserved_target() const {
  return is_word(token_.kind) && next_.kind == TokenKind::kAssign;
}

// Returns true at an assignment of another language, such as `m := x`, `m == x`, `m += x` or `m:
// int = x`, or at one without a sign.
bool Parser::looks_like_assignment() const {
  const bool sign = next_.kind == TokenKind::kColon || next_.kind == TokenKind::kEqual ||
                    binary_operator(next_.kind).has_value();
  return (at_token(TokenKind::kName) && sign && !next_.line_start) || lacks_assign_sign();
}

// Returns true at an assignment whose `=` is missing: `m Machine(GPU)`, `m 3`, `m f(3)`.
bool Parser::lacks_assign_sign() const {
  if (!at_token(TokenKind::kName) || next_.line_start) return false;
  const std::string_view after = source_text({next_.range.end, next_.range.end + 1});
  const bool call = next_.kind == TokenKind::kName && (after == "(" || after == "[");
  return next_.kind == TokenKind::kMachine || next_.kind == TokenKind::kInt ||
         next_.kind == TokenKind::kTrue || next_.kind == TokenKind::kFalse ||
         (call && !looks_like_statement());
}

// Returns true at a function without the word `def`: `function f(Task t) {`, `f(Task t) {`. The
// head must be on one line, of at most 1000 bytes.
bool Parser::looks_like_def() const {
  const bool word = at_token(TokenKind::kName) || at_token(TokenKind::kTypeWord);
  const bool two = word && next_.kind == TokenKind::kName && !next_.line_start;
  if (!two && (!at_token(TokenKind::kName) || next_.kind != TokenKind::kLeftParen)) return false;
  // The head of a function is looked for in this many bytes.
  constexpr std::uint32_t kLongest = 1000;
  std::string_view head =
      source_text({two ? next_.range.end : next_.range.begin, next_.range.end + kLongest});
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
bool Parser::parse_def_without_keyword(Statement& made, bool in_body) {
  const bool two = next_.kind != TokenKind::kLeftParen;
  if (in_body) return report_nested_def(two);
  Diagnostic& diagnostic =
      diags_.report(DiagId::kUnknownStatement, token_.range, describe_token(token_));
  diagnostic.help("a function begins with `def`");
  if (two) {
    diagnostic.fix({"write `def`", {{token_.range, "def"}}, true});
    advance_token();
  } else {
    diagnostic.fix({"insert `def`", {{{token_.range.begin, token_.range.begin}, "def "}}, true});
  }
  return parse_def(made);
}

// Returns true at a control word of other languages: `if`, `else`, `elif`, `while`, `switch` or
// `for`.
bool Parser::at_control_word() const {
  if (next_.kind == TokenKind::kAssign) return false;
  if (!at_token(TokenKind::kName)) return at_token(TokenKind::kFor);
  const std::string_view word = source_text(token_.range);
  return word == "if" || word == "else" || word == "elif" || word == "while" || word == "switch";
}

// Reports a control word and reads the statements under it, so that mistakes in them are reported
// too. The statements are then dropped, except that the names they assign stay defined.
void Parser::parse_control_word(std::vector<Statement>& into, bool in_body) {
  NestingLevel level(*this);
  if (!panic_) {
    const bool loop = at_token(TokenKind::kFor) || source_text(token_.range) == "while";
    const char* const choice =
        in_body
            ? "choose with `condition ? a : b`"
            : "`when condition { ... }` holds statements for some machines; an expression chooses "
              "with `condition ? a : b`";
    report(DiagId::kUnknownStatement, token_.range, describe_token(token_))
        ->help(loop ? "`tuple(f(i) for i in t)` goes through a tuple" : choice);
    panic_ = false;
    const std::size_t column = token_indentation();
    std::vector<Statement> block;
    do {
      parse_controlled_statements(block, in_body, column);
    } while (at_token(TokenKind::kName) && at_control_word() &&
             source_text(token_.range).starts_with("el"));
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
void Parser::parse_controlled_statements(std::vector<Statement>& into, bool in_body,
                                         std::size_t column) {
  int open = 0;
  advance_token();
  while (!at_token(TokenKind::kEnd) && !at_token(TokenKind::kLeftBrace) &&
         !at_token(TokenKind::kRightBrace)) {
    if (token_.line_start && (open <= 0 || begins_statement())) break;
    if (open <= 0 &&
        (at_token(TokenKind::kColon) || at_token(TokenKind::kSemicolon) || begins_statement())) {
      break;
    }
    open += at_token(TokenKind::kLeftParen) || at_token(TokenKind::kLeftBracket);
    open -= at_token(TokenKind::kRightParen) || at_token(TokenKind::kRightBracket);
    advance_token();
  }
  recovered_ = false;
  accept_token(TokenKind::kColon);
  if (accept_token(TokenKind::kLeftBrace)) {
    while (!at_token(TokenKind::kEnd) && !at_token(TokenKind::kRightBrace) &&
           !(in_body && at_end_of_body())) {
      parse_statement(into, in_body);
    }
    accept_token(TokenKind::kRightBrace);
    return;
  }
  accept_token(TokenKind::kSemicolon);
  while (!at_token(TokenKind::kEnd) && !at_token(TokenKind::kRightBrace) &&
         (!token_.line_start || token_indentation() > column)) {
    parse_statement(into, in_body);
  }
}

// Reports a line that begins no statement. If the line looks like a broken assignment, its name
// stays defined, so that uses of the name are not mistakes.
bool Parser::report_unknown_statement(Statement& made, bool in_body) {
  if (at_token(TokenKind::kError) || after_mistake_) panic_ = true;
  if (!panic_ && looks_like_def()) return parse_def_without_keyword(made, in_body);
  if (!panic_ && looks_like_assignment() && !looks_like_statement()) {
    AssignStatement node;
    node.target = parse_identifier(NamedThing::kVariable);
    node.implied = true;
    report_expected("`=`");
    made.node = node;
    return false;
  }
  if (Diagnostic* diagnostic =
          report(DiagId::kUnknownStatement, token_.range, describe_token(token_))) {
    if (at_token(TokenKind::kName)) {
      suggest_spellings(*diagnostic, token_.range, TokenKind::kStatementWord);
    }
    if (at_token(TokenKind::kEqual))
      diagnostic->help("remove this line; a comment begins with `#`");
    if (at_token(TokenKind::kSemicolon)) diagnostic->fix({"remove it", {{token_.range, ""}}, true});
  }
  AssignStatement node;
  node.implied = true;
  const auto take = [&] {
    node.target = {tree_.name_table.intern_name(source_text(token_.range)), token_.range};
    made.node = node;
  };
  // The line may be a damaged assignment to this name.
  if (at_token(TokenKind::kName) && next_.kind != TokenKind::kLeftParen) take();
  // A `;` ends the recovery, so it is not skipped.
  if (!at_token(TokenKind::kSemicolon)) advance_token();
  const bool assigns = next_.kind == TokenKind::kAssign && !token_.line_start;
  // Other languages write `let m = x` or `int m = x`.
  if (at_token(TokenKind::kName) && assigns) take();
  return false;
}

// task : Task NAMES PROC (',' PROC)*
bool Parser::parse_task(Statement& made) {
  TaskStatement node;
  node.names = parse_names(NameList::kTasks, at_processor_kind());
  node.procs = parse_kind_words(TokenKind::kProcWord);
  made.node = node;
  return true;
}

// region : Region NAMES WHICH PLACE MEM (',' MEM)*
bool Parser::parse_region(Statement& made) {
  RegionStatement node;
  node.names = parse_names(NameList::kRegionTasks);
  node.which = parse_regions(NameList::kRegionRegions);
  node.place = parse_place(false);
  node.memories = parse_kind_words(TokenKind::kMemWord);
  made.node = node;
  return true;
}

// layout : Layout NAMES WHICH PLACE constraint*
bool Parser::parse_layout(Statement& made) {
  LayoutStatement node;
  node.names = parse_names(NameList::kLayoutTasks);
  node.which = parse_regions(NameList::kLayoutRegions);
  node.place = parse_place(true);
  node.constraints = parse_constraints();
  made.node = node;
  return true;
}

// limit : InstanceLimit NAMES [PROC] INT [SAME_NODE | Machine]
bool Parser::parse_instance_limit(Statement& made) {
  InstanceLimitStatement node;
  node.names = parse_names(NameList::kTasks, at_processor_kind());
  const bool kind = is_word(token_.kind) && !at_next_statement();
  if (!panic_ && kind) node.proc = parse_kind_word(TokenKind::kProcWord, false);
  node.limit = parse_integer("the number of instances that may run at a time");
  if (!panic_) node.scope = parse_limit_scope();
  made.node = node;
  return true;
}

// Reads the optional scope of a limit; the default is per processor. No statement begins with one
// of these words, so they may stand on the next line.
LimitScope Parser::parse_limit_scope() {
  if (accept_token(TokenKind::kMachine)) return LimitScope::kMachine;
  const bool same_node = at_token(TokenKind::kScopeWord) &&
                         static_cast<StealScope>(token_.value) == StealScope::kSameNode;
  if (same_node) {
    advance_token();
    return LimitScope::kNode;
  }
  const bool wrong_word = at_token(TokenKind::kScopeWord) ||
                          (at_token(TokenKind::kName) && !token_.line_start && !begins_statement());
  if (!wrong_word) return LimitScope::kProcessor;
  constexpr std::array<std::string_view, 2> kScopes = {"SAME_NODE", "Machine"};
  Diagnostic* diagnostic =
      report(DiagId::kExpectedToken, token_.range,
             "`SAME_NODE`, `Machine` or the end of the statement", describe_token(token_));
  if (at_token(TokenKind::kScopeWord)) {
    diagnostic->help("write `Machine` to count the instances on all nodes together");
  } else {
    suggest_spellings(*diagnostic, token_.range, kScopes);
  }
  return LimitScope::kProcessor;
}

// collect : CollectMemory NAMES WHICH
bool Parser::parse_collect_memory(Statement& made) {
  CollectMemoryStatement node;
  node.names = parse_names(NameList::kCollectTasks);
  node.which = parse_regions(NameList::kCollectRegions);
  made.node = node;
  return true;
}

// indexmap : IndexTaskMap (NAMES | PROC) NAME
// singlemap : SingleTaskMap (NAMES | PROC) NAME
bool Parser::parse_task_map(Statement& made, bool index) {
  TaskMapStatement node;
  node.index = index;
  const bool path = next_.kind == TokenKind::kDot || next_.kind == TokenKind::kColonColon;
  if (at_token(TokenKind::kProcWord) && !path) {
    node.proc = parse_kind_word(TokenKind::kProcWord, false);
  } else {
    node.names = parse_names(NameList::kTasks);
  }
  node.function = parse_identifier(NamedThing::kFunction);
  made.node = node;
  return true;
}

// replicate : ControlReplicate NAMES
bool Parser::parse_control_replicate(Statement& made) {
  ControlReplicateStatement node;
  node.names = parse_names(NameList::kTasks);
  made.node = node;
  return true;
}

// steal : TaskSteal NAMES PROC (SAME_NODE | ANY_NODE)
bool Parser::parse_task_steal(Statement& made) {
  TaskStealStatement node;
  node.names = parse_names(NameList::kTasks, at_processor_kind());
  node.proc = parse_kind_word(TokenKind::kProcWord, false);
  if (!panic_) {
    if (at_token(TokenKind::kScopeWord)) {
      node.scope = static_cast<StealScope>(token_.value);
      advance_token();
    } else if (at_token(TokenKind::kName) && !at_next_statement()) {
      suggest_spellings(*report(DiagId::kExpectedToken, token_.range, "`SAME_NODE` or `ANY_NODE`",
                                describe_token(token_)),
                        token_.range, TokenKind::kScopeWord);
    } else {
      report_expected("`SAME_NODE` or `ANY_NODE`");
    }
  }
  made.node = node;
  return true;
}

// assign : NAME '=' expr
bool Parser::parse_assign(Statement& made) {
  AssignStatement node;
  node.target = parse_identifier(NamedThing::kVariable);
  expect_token(TokenKind::kAssign);
  node.value = parse_expression();
  made.node = node;
  return true;
}

// print : print '(' STRING (',' expr)* ')'
bool Parser::parse_print(Statement& made) {
  PrintStatement node;
  const std::uint32_t open = token_.range.begin;
  if (!expect_token(TokenKind::kLeftParen)) return true;
  ++brackets_;
  node.text = token_.range;
  if (at_token(TokenKind::kString)) {
    advance_token();
  } else {
    report_expected("a string between double quotes");
  }
  const std::size_t first = pending_.size();
  while (!panic_ && accept_token(TokenKind::kComma)) pending_.push_back(parse_expression());
  node.args = take_pending(first);
  close_bracket(TokenKind::kRightParen, open);
  made.node = node;
  return true;
}

// def : def NAME '(' [param (',' param)*] ')' ( '{' body* '}' | ':' body* return )
bool Parser::parse_def(Statement& made) {
  DefStatement node;
  node.name = parse_identifier(NamedThing::kFunction);
  node.params = parse_params();
  node.head_broken = panic_;
  node.exprs.begin = static_cast<std::uint32_t>(tree_.exprs.size());
  made.node = node;
  if (panic_ && !skip_to_function_body()) return true;
  panic_ = body_broken_ = false;
  std::vector<Statement> body;
  const auto first_expr = static_cast<std::uint32_t>(tree_.exprs.size());
  const Token opening = token_;
  if (accept_token(TokenKind::kLeftBrace)) {
    parse_braced_body(body, opening);
  } else if (at_token(TokenKind::kColon) && next_.kind == TokenKind::kLeftBrace) {
    diags_.report(DiagId::kExpectedToken, token_.range, "`{`", "`:`")
        .fix({"remove the `:`", {{token_.range, ""}}, true});
    advance_token();
    const Token brace = token_;
    advance_token();
    parse_braced_body(body, brace);
  } else if (accept_token(TokenKind::kColon)) {
    parse_colon_body(body, opening, node.name);
  } else {
    report_expected("`{`");
    body_broken_ = true;
    parse_body_without_brace(body);
  }
  node.body_broken = body_broken_ || panic_;
  node.body = {static_cast<std::uint32_t>(tree_.body_statements.size()),
               static_cast<std::uint32_t>(body.size())};
  node.exprs = {first_expr, static_cast<std::uint32_t>(tree_.exprs.size()) - first_expr};
  std::move(body.begin(), body.end(), std::back_inserter(tree_.body_statements));
  made.node = node;
  return !node.head_broken;
}

// Reads the body of a function whose `{` is missing or comes late, so that its statements are not
// taken for the program's own. Without any `{`, the body ends at its first `return`.
void Parser::parse_body_without_brace(std::vector<Statement>& body) {
  if (skip_to_function_body()) {
    const Token opening = token_;
    panic_ = false;
    advance_token();
    parse_braced_body(body, opening);
    return;
  }
  panic_ = false;
  recovered_ = true;
  bool returned = false;
  const auto at_body = [this] {
    return at_statement_word(StatementKind::kPrint) || at_statement_word(StatementKind::kReturn) ||
           (at_token(TokenKind::kName) && begins_statement());
  };
  while (!returned && at_body()) {
    returned = at_statement_word(StatementKind::kReturn);
    parse_statement(body, true);
  }
  if (returned) accept_token(TokenKind::kRightBrace);
  accept_token(TokenKind::kSemicolon);
}

// After a mistake in a function's head, skips to its `{`. Returns false if the next statement
// begins first.
bool Parser::skip_to_function_body() {
  while (!at_token(TokenKind::kEnd) && !at_token(TokenKind::kRightBrace) &&
         !at_token(TokenKind::kSemicolon)) {
    if (at_token(TokenKind::kLeftBrace)) return true;
    if (token_.line_start && (begins_statement() || at_when())) return false;
    advance_token();
  }
  return false;
}

// Returns true if an unindented statement that is not allowed in functions begins here, such as
// `Region`. The function's closing brace is then missing.
bool Parser::at_end_of_body() const {
  const bool others = at_token(TokenKind::kStatementWord) &&
                      !at_statement_word(StatementKind::kPrint) &&
                      !at_statement_word(StatementKind::kReturn);
  return token_.line_start && others && token_indentation() == 0;
}

// Reads the statements of a body up to `}`. If the brace is missing, the report points at
// `opening`.
void Parser::parse_braced_body(std::vector<Statement>& body, const Token& opening) {
  while (!at_token(TokenKind::kEnd) && !at_token(TokenKind::kRightBrace)) {
    if (at_end_of_body()) break;
    parse_statement(body, true);
  }
  if (accept_token(TokenKind::kRightBrace)) return;
  diags_.report(DiagId::kUnclosedBracket, token_.range, "}", describe_token(token_))
      .note("the function's body begins here", opening.range);
  ++expected_braces_;
  recovered_ = body_broken_ = true;
}

// Reads a body after `:`, the form of the paper, up to its first `return`. This form gives a
// warning with a fix that writes braces. A body without `return` is an error.
void Parser::parse_colon_body(std::vector<Statement>& body, const Token& opening,
                              const NameUse& name) {
  bool returned = false;
  while (!returned && !at_token(TokenKind::kEnd) && !at_token(TokenKind::kRightBrace)) {
    const bool body_word =
        at_statement_word(StatementKind::kPrint) || at_statement_word(StatementKind::kReturn);
    if (at_token(TokenKind::kStatementWord) && !body_word) break;
    const bool is_return = at_statement_word(StatementKind::kReturn);
    parse_statement(body, true);
    returned = is_return;
  }
  if (recovered_ && !returned) return;
  if (!returned) {
    diags_.report(DiagId::kMissingReturn, name.range, source_text(name.range))
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
