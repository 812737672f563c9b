// Parses expressions: precedence climbing for binary operators, over chains of postfix operators.
// The grammar rule of a function stands above it.
#include <fmt/format.h>

#include <algorithm>

#include "syntax/parser_impl.h"

namespace groma::syntax {

// Returns an operator as the language writes it. The table has the order of enum Operator, with the
// prefix operators `-` and `!` at the end.
std::string_view spelling_of(Operator op) {
  constexpr std::string_view kSpellings[] = {
      "||", "&&", "==", "!=", "<", "<=", ">", ">=", "+", "-", "*", "/", "%", "-", "!"};
  return kSpellings[static_cast<std::size_t>(op)];
}

// Returns how tightly an operator binds: from 1 for the loosest, `||`, to 7 for the prefix
// operators.
int precedence_of(Operator op) {
  constexpr int kPrecedences[] = {1, 2, 3, 3, 4, 4, 4, 4, 5, 5, 6, 6, 6, 7, 7};
  return kPrecedences[static_cast<std::size_t>(op)];
}

// Returns the binary operator that a sign stands for, if there is one.
std::optional<Operator> binary_operator(TokenKind kind) {
  switch (kind) {
    case TokenKind::kOr:
      return Operator::kOr;
    case TokenKind::kAnd:
      return Operator::kAnd;
    case TokenKind::kEqual:
      return Operator::kEqual;
    case TokenKind::kNotEqual:
      return Operator::kNotEqual;
    case TokenKind::kLess:
      return Operator::kLess;
    case TokenKind::kLessEqual:
      return Operator::kLessEqual;
    case TokenKind::kGreater:
      return Operator::kGreater;
    case TokenKind::kGreaterEqual:
      return Operator::kGreaterEqual;
    case TokenKind::kPlus:
      return Operator::kAdd;
    case TokenKind::kMinus:
      return Operator::kSubtract;
    case TokenKind::kStar:
      return Operator::kMultiply;
    case TokenKind::kSlash:
      return Operator::kDivide;
    case TokenKind::kPercent:
      return Operator::kModulo;
    default:
      return std::nullopt;
  }
}

// Appends an expression node to the tree and returns its id. Returns kNoExpr if the program exceeds
// a limit on expressions, or after a mistake in the statement.
ExprId Parser::add_expr(Expr expr) {
  if (tree_.exprs.size() >= kMaxExprs) report_exceeded_limit(kMaxExprs, "parts of expressions");
  if (expr.height >= kMaxNesting) {
    report(DiagId::kNestingTooDeep, expr.range, kMaxNesting)
        ->help("give parts of it names in statements of their own");
  }
  if (panic_) return kNoExpr;
  tree_.exprs.push_back(expr);
  return static_cast<ExprId>(tree_.exprs.size() - 1);
}

// Returns the height of the highest expression in the list, or 0 for an empty list.
int Parser::expr_height(IndexRange list) const {
  int most = 0;
  for (ExprId id : tree_.exprs_of(list)) most = std::max(most, expr_height(id));
  return most;
}

// Moves the entries of pending_ from index `first` on to the end of the tree's expression lists,
// and returns their range there. Earlier entries belong to lists around this one and stay.
IndexRange Parser::take_pending(std::size_t first) {
  const IndexRange list{static_cast<std::uint32_t>(tree_.expr_lists.size()),
                        static_cast<std::uint32_t>(pending_.size() - first)};
  tree_.expr_lists.insert(tree_.expr_lists.end(),
                          pending_.begin() + static_cast<std::ptrdiff_t>(first), pending_.end());
  pending_.resize(first);
  return list;
}

// Reads the bracket that closes the one at byte `open`. If it is missing, the report says where the
// opening bracket is.
void Parser::close_bracket(TokenKind kind, std::uint32_t open) {
  --brackets_;
  if (panic_ || accept_token(kind)) return;
  if (at_token(TokenKind::kError)) {
    panic_ = true;
  } else if (at_token(TokenKind::kEnd) || at_token(TokenKind::kSemicolon) || token_.line_start) {
    report(DiagId::kUnclosedBracket, token_.range, spelling_of(kind), describe_token(token_))
        ->note("to close this one", Range{open, open + 1});
  } else {
    report_expected(fmt::format("`,` or `{}`", spelling_of(kind)));
  }
}

// expr : or-expr ['?' expr ':' expr]
// The conditional groups from right to left.
ExprId Parser::parse_expression() {
  NestingLevel level(*this);
  const ExprId condition = parse_binary(1);
  if (panic_ || !at_token(TokenKind::kQuestion)) return condition;
  const std::uint32_t question = token_.range.begin;
  advance_token();
  const ExprId yes = parse_expression();
  if (panic_ || !expect_token(TokenKind::kColon)) return kNoExpr;
  const ExprId no = parse_expression();
  if (panic_) return kNoExpr;
  Expr expr{ExprKind::kConditional};
  expr.range = {begin_of_expr(condition), last_end_};
  expr.focus_offset = question;
  expr.a = condition, expr.b = yes, expr.c = no;
  expr.height = height_above(std::max({expr_height(condition), expr_height(yes), expr_height(no)}));
  return add_expr(expr);
}

// Returns the binary operator at the token, if there is one. The words `and` and `or` of other
// languages are read as `&&` and `||`; the caller reports them.
std::optional<Operator> Parser::operator_at_token() const {
  if (!at_token(TokenKind::kName)) return binary_operator(token_.kind);
  if (token_.line_start && brackets_ == 0) return std::nullopt;
  const std::string_view word = source_text(token_.range);
  if (word == "and") return Operator::kAnd;
  if (word == "or") return Operator::kOr;
  return std::nullopt;
}

// Returns true at `not x`, as other languages write `!x`. `not` without an operand is an ordinary
// name.
bool Parser::at_not_word() const {
  if (!at_token(TokenKind::kName) || source_text(token_.range) != "not") return false;
  const bool operand = is_word(next_.kind) || next_.kind == TokenKind::kInt;
  return operand && !next_.line_start && next_.kind != TokenKind::kFor;
}

// Reports an operator word of another language, such as `and`. The parser continues as if the sign
// stood there.
void Parser::report_operator_word(std::string_view sign) {
  diags_
      .report(DiagId::kExpectedToken, token_.range, fmt::format("`{}`", sign),
              describe_token(token_))
      .fix({fmt::format("write `{}`", sign), {{token_.range, std::string(sign)}}, true});
}

// Reads binary operators that bind at least as tightly as `least`. Operators of the same level
// group from left to right.
ExprId Parser::parse_binary(int least) {
  ExprId left = parse_unary();
  while (!panic_) {
    const auto op = operator_at_token();
    if (!op || precedence_of(*op) < least) break;
    if (at_token(TokenKind::kName)) report_operator_word(spelling_of(*op));
    Expr expr{ExprKind::kBinary, *op};
    expr.focus_offset = token_.range.begin;
    advance_token();
    expr.a = left;
    expr.b = parse_binary(precedence_of(*op) + 1);
    if (panic_) break;
    expr.range = {begin_of_expr(left), last_end_};
    expr.height = height_above(std::max(expr_height(expr.a), expr_height(expr.b)));
    left = add_expr(expr);
  }
  return panic_ ? kNoExpr : left;
}

// unary : ('-' | '!') unary | postfix
ExprId Parser::parse_unary() {
  if (at_not_word()) return parse_not_word();
  if (!at_token(TokenKind::kMinus) && !at_token(TokenKind::kBang)) return parse_postfix();
  NestingLevel level(*this);
  if (panic_) return kNoExpr;
  Expr expr{ExprKind::kUnary, at_token(TokenKind::kMinus) ? Operator::kNegate : Operator::kNot};
  expr.focus_offset = token_.range.begin;
  advance_token();
  expr.a = parse_unary();
  if (panic_) return kNoExpr;
  expr.range = {expr.focus_offset, last_end_};
  expr.height = height_above(expr_height(expr.a));
  return add_expr(expr);
}

// Reads `not x` as `!x` and reports it. `not` binds less tightly than a comparison, so the fix adds
// parentheses where the operand is a binary expression.
ExprId Parser::parse_not_word() {
  NestingLevel level(*this);
  if (panic_) return kNoExpr;
  const Range word = token_.range;
  advance_token();
  Expr expr{ExprKind::kUnary, Operator::kNot};
  expr.focus_offset = word.begin;
  expr.a = parse_binary(precedence_of(Operator::kEqual));
  Diagnostic& diagnostic = diags_.report(DiagId::kExpectedToken, word, "`!`", "`not`");
  if (panic_) return kNoExpr;
  expr.range = {word.begin, last_end_};
  expr.height = height_above(expr_height(expr.a));
  const bool bare = tree_.exprs[expr.a].kind != ExprKind::kBinary;
  const Range sign{word.begin, begin_of_expr(expr.a)};
  diagnostic.fix(bare ? Fix{"write `!`", {{sign, "!"}}, true}
                      : Fix{"write `!(...)`", {{sign, "!("}, {{last_end_, last_end_}, ")"}}, true});
  return add_expr(expr);
}

// postfix : primary ( '(' args ')' | '[' elements ']' | '[' [expr] ':' [expr] ']' | '.' NAME )*
ExprId Parser::parse_postfix() {
  ExprId base = parse_primary();
  while (!panic_) {
    if (at_token(TokenKind::kLeftParen)) {
      base = parse_call(base);
    } else if (at_token(TokenKind::kLeftBracket)) {
      base = parse_index_or_slice(base);
    } else if (at_token(TokenKind::kDot)) {
      base = parse_member(base);
    } else {
      break;
    }
  }
  return panic_ ? kNoExpr : base;
}

// Reads the arguments of a call, from `(` on.
ExprId Parser::parse_call(ExprId callee) {
  const std::uint32_t open = token_.range.begin;
  Expr expr{ExprKind::kCall};
  expr.focus_offset = open;
  advance_token();
  const IndexRange list = parse_elements(TokenKind::kRightParen, open, true);
  if (panic_) return kNoExpr;
  expr.a = list.begin, expr.b = list.count, expr.c = callee;
  expr.range = {begin_of_expr(callee), last_end_};
  expr.height = height_above(std::max(expr_height(callee), expr_height(list)));
  return add_expr(expr);
}

// Reads `[...]`. A `:` after the first element, or in its place, makes it a slice.
ExprId Parser::parse_index_or_slice(ExprId base) {
  const std::uint32_t open = token_.range.begin;
  advance_token();
  ++brackets_;
  ExprId first = kNoExpr;
  if (!at_token(TokenKind::kColon)) first = parse_element(false);
  if (!panic_ && at_token(TokenKind::kColon)) return parse_slice(base, first, open);
  --brackets_;
  const std::size_t mark = pending_.size();
  if (!panic_) pending_.push_back(first);
  const IndexRange list = parse_more_elements(mark, TokenKind::kRightBracket, open, false);
  if (panic_) return kNoExpr;
  Expr expr{ExprKind::kIndex};
  expr.focus_offset = open;
  expr.a = list.begin, expr.b = list.count, expr.c = base;
  expr.range = {begin_of_expr(base), last_end_};
  expr.height = height_above(std::max(expr_height(base), expr_height(list)));
  return add_expr(expr);
}

// Reads the rest of a slice, from `:` on. `from` is kNoExpr if the slice begins at the first
// element.
ExprId Parser::parse_slice(ExprId base, ExprId from, std::uint32_t open) {
  if (from != kNoExpr &&
      (tree_.exprs[from].kind == ExprKind::kSplice || tree_.exprs[from].kind == ExprKind::kAll)) {
    report(DiagId::kStrayStar, tree_.exprs[from].range);
  }
  advance_token();
  Expr expr{ExprKind::kSlice};
  expr.focus_offset = open;
  expr.a = from;
  expr.b = at_token(TokenKind::kRightBracket) ? kNoExpr : parse_expression();
  if (at_token(TokenKind::kColon) || at_token(TokenKind::kComma))
    report_expected("`]`, as a slice has two ends");
  close_bracket(TokenKind::kRightBracket, open);
  if (panic_) return kNoExpr;
  expr.c = base;
  expr.range = {begin_of_expr(base), last_end_};
  expr.height =
      height_above(std::max({expr_height(base), expr_height(expr.a), expr_height(expr.b)}));
  return add_expr(expr);
}

// Reads the name after a `.`. Reserved words are allowed there.
ExprId Parser::parse_member(ExprId base) {
  advance_token();
  if (!is_word(token_.kind) || at_next_statement()) {
    report_expected("the name of a member");
    return kNoExpr;
  }
  Expr expr{ExprKind::kMember};
  expr.a = base;
  expr.c = tree_.name_table.intern_name(source_text(token_.range));
  expr.focus_offset = token_.range.begin;
  advance_token();
  expr.range = {begin_of_expr(base), last_end_};
  expr.height = height_above(expr_height(base));
  return add_expr(expr);
}

// element : expr | '*' expr | '*'; in calls also NAME '=' expr
ExprId Parser::parse_element(bool in_call) {
  if (at_token(TokenKind::kStar)) return parse_star_element();
  if (in_call && at_token(TokenKind::kName) && next_.kind == TokenKind::kAssign)
    return parse_option();
  return parse_expression();
}

// Reads `*expr`, which splices a tuple, or a bare `*`, which means all.
ExprId Parser::parse_star_element() {
  Expr expr{ExprKind::kAll};
  expr.range = token_.range;
  advance_token();
  const bool bare = at_token(TokenKind::kComma) || at_token(TokenKind::kRightBracket) ||
                    at_token(TokenKind::kRightParen) || at_token(TokenKind::kColon);
  if (!bare) {
    expr.kind = ExprKind::kSplice;
    expr.a = parse_expression();
    if (panic_) return kNoExpr;
    expr.range.end = last_end_;
    expr.height = height_above(expr_height(expr.a));
  }
  return add_expr(expr);
}

// Reads a named argument of a call: NAME '=' expr.
ExprId Parser::parse_option() {
  Expr expr{ExprKind::kOption};
  expr.c = tree_.name_table.intern_name(source_text(token_.range));
  expr.range = token_.range;
  advance_token();
  advance_token();
  expr.a = parse_expression();
  if (panic_) return kNoExpr;
  expr.focus_offset = expr.range.end;
  expr.range.end = last_end_;
  expr.height = height_above(expr_height(expr.a));
  return add_expr(expr);
}

// Reads elements up to the closing bracket. The opening bracket, at byte `open`, has been read.
IndexRange Parser::parse_elements(TokenKind closing, std::uint32_t open, bool in_call) {
  const std::size_t first = pending_.size();
  if (!at_token(closing)) {
    ++brackets_;
    const ExprId id = parse_element(in_call);
    --brackets_;
    report_misplaced_star(id, closing);
    if (!panic_) pending_.push_back(id);
  }
  return parse_more_elements(first, closing, open, in_call);
}

// Reads the elements of a list after the first one, and the closing bracket of the list. The
// elements read so far stand in pending_ from index `first` on. A comma before the closing bracket
// is allowed, because a tuple of one item needs it.
IndexRange Parser::parse_more_elements(std::size_t first, TokenKind closing, std::uint32_t open,
                                       bool in_call) {
  ++brackets_;
  while (!panic_ && accept_token(TokenKind::kComma)) {
    if (pending_.size() - first >= kMaxListItems) {
      report_exceeded_limit(kMaxListItems, "items in a list");
      break;
    }
    const ExprId id = parse_element(in_call);
    report_misplaced_star(id, closing);
    if (!panic_) pending_.push_back(id);
  }
  close_bracket(closing, open);
  if (panic_) pending_.resize(std::min(pending_.size(), first));
  return panic_ ? IndexRange{} : take_pending(first);
}

// Reports a bare `*` outside `[...]`: only an index can be a bare `*`.
void Parser::report_misplaced_star(ExprId id, TokenKind closing) {
  if (panic_ || closing == TokenKind::kRightBracket) return;
  if (tree_.exprs[id].kind != ExprKind::kAll) return;
  report(DiagId::kStrayStar, tree_.exprs[id].range)
      ->note("a bare `*` means all, as an index of a machine")
      .help("put a tuple behind it to splice that in");
}

// Adds an expression that is one token. `a` and `b` depend on the kind; an integer is stored in
// both, with its low 32 bits in `a`.
ExprId Parser::parse_token_expr(ExprKind kind, std::uint32_t a, std::uint32_t b) {
  Expr expr{kind};
  expr.range = token_.range;
  expr.focus_offset = token_.range.begin;
  expr.a = a, expr.b = b;
  advance_token();
  return add_expr(expr);
}

// primary : INT | bool | NAME | PROC | MEM | STRING | '(' ... ')'
//         | tuple '(' expr for NAME in expr ')'
ExprId Parser::parse_primary() {
  if (panic_) return kNoExpr;
  if (at_next_statement()) {
    report_expected("an expression");
    return kNoExpr;
  }
  switch (token_.kind) {
    case TokenKind::kInt: {
      const auto value = static_cast<std::uint64_t>(integer_at(token_.range));
      return parse_token_expr(ExprKind::kInt, static_cast<std::uint32_t>(value),
                              static_cast<std::uint32_t>(value >> 32));
    }
    case TokenKind::kTrue:
      return parse_token_expr(ExprKind::kBool, 1);
    case TokenKind::kFalse:
      return parse_token_expr(ExprKind::kBool, 0);
    case TokenKind::kString:
      return parse_token_expr(ExprKind::kString);
    case TokenKind::kProcWord:
      return parse_token_expr(ExprKind::kProc, token_.value);
    case TokenKind::kMemWord:
      return parse_token_expr(ExprKind::kMem, token_.value);
    case TokenKind::kMachine:
      return parse_token_expr(ExprKind::kMachine);
    case TokenKind::kName: {
      const std::string_view name = source_text(token_.range);
      if (name == "tuple" && next_.kind == TokenKind::kLeftParen) return parse_tuple_or_call();
      return parse_token_expr(ExprKind::kName, tree_.name_table.intern_name(name));
    }
    case TokenKind::kLeftParen:
      return parse_parenthesized();
    case TokenKind::kStar:
      report(DiagId::kStrayStar, token_.range)
          ->note("`*` splices a tuple at the front of an element of a tuple, an index or a call");
      return kNoExpr;
    case TokenKind::kLeftBracket:
      report(DiagId::kExpectedToken, token_.range, "an expression", "`[`")
          ->help("a tuple stands between `(` and `)`");
      return kNoExpr;
    default:
      report_expected("an expression");
      return kNoExpr;
  }
}

// Reads an expression in parentheses or a tuple:
//
// * `(x)` is `x` itself.
// * With a comma or a spliced item, as in `(x,)` and `(*t)`, the parentheses hold a tuple.
// * `()` is the empty tuple.
ExprId Parser::parse_parenthesized() {
  const std::uint32_t open = token_.range.begin;
  advance_token();
  const std::size_t first = pending_.size();
  bool comma = false;
  ++brackets_;
  while (!panic_ && !at_token(TokenKind::kRightParen)) {
    if (pending_.size() - first >= kMaxListItems) {
      report_exceeded_limit(kMaxListItems, "items in a tuple");
      break;
    }
    const ExprId id = parse_element(false);
    report_misplaced_star(id, TokenKind::kRightParen);
    if (!panic_) pending_.push_back(id);
    if (panic_ || !accept_token(TokenKind::kComma)) break;
    comma = true;
  }
  close_bracket(TokenKind::kRightParen, open);
  if (panic_) {
    pending_.resize(first);
    return kNoExpr;
  }
  Expr expr;
  expr.range = {open, last_end_};
  // A single item without a comma is not a tuple, unless it is spliced (`*t`).
  const bool single = pending_.size() == first + 1 && !comma &&
                      tree_.exprs[pending_[first]].kind != ExprKind::kSplice;
  if (single) {
    expr.kind = ExprKind::kParen;
    expr.a = pending_[first];
    expr.height = height_above(expr_height(expr.a));
    pending_.resize(first);
  } else {
    expr.kind = ExprKind::kTuple;
    const IndexRange list = take_pending(first);
    expr.a = list.begin, expr.b = list.count;
    expr.height = height_above(expr_height(list));
  }
  return add_expr(expr);
}

// Reads `tuple ( expr for NAME in expr )`. Without `for`, it is a call of a function named `tuple`.
ExprId Parser::parse_tuple_or_call() {
  const Token word = token_;
  const std::uint32_t open = next_.range.begin;
  advance_token();
  advance_token();
  ++brackets_;
  const bool empty = at_token(TokenKind::kRightParen);
  const ExprId item = empty ? kNoExpr : parse_element(true);
  --brackets_;
  if (!panic_ && at_token(TokenKind::kFor)) return parse_comprehension(word, item, open);
  Expr callee{ExprKind::kName};
  callee.range = word.range;
  callee.a = tree_.name_table.intern_name(source_text(word.range));
  const ExprId function = add_expr(callee);
  const std::size_t first = pending_.size();
  if (!empty) {
    report_misplaced_star(item, TokenKind::kRightParen);
    if (!panic_) pending_.push_back(item);
  }
  const IndexRange list = parse_more_elements(first, TokenKind::kRightParen, open, true);
  if (panic_) return kNoExpr;
  Expr expr{ExprKind::kCall};
  expr.focus_offset = open;
  expr.a = list.begin, expr.b = list.count, expr.c = function;
  expr.range = {word.range.begin, last_end_};
  expr.height = height_above(expr_height(list));
  return add_expr(expr);
}

// Reads the rest of a comprehension, from `for` on. `item` is the expression for each element.
ExprId Parser::parse_comprehension(const Token& word, ExprId item, std::uint32_t open) {
  if (tree_.exprs[item].kind == ExprKind::kSplice || tree_.exprs[item].kind == ExprKind::kAll) {
    report(DiagId::kStrayStar, tree_.exprs[item].range);
    return kNoExpr;
  }
  advance_token();
  ++brackets_;
  const NameUse variable = parse_identifier(NamedThing::kVariable);
  if (!panic_ && !accept_token(TokenKind::kIn)) report_expected("`in`");
  const ExprId range = parse_expression();
  close_bracket(TokenKind::kRightParen, open);
  if (panic_) return kNoExpr;
  Expr expr{ExprKind::kComprehension};
  expr.range = {word.range.begin, last_end_};
  expr.focus_offset = variable.range.begin;
  expr.a = item, expr.b = range, expr.c = variable.id;
  expr.height = height_above(std::max(expr_height(item), expr_height(range)));
  return add_expr(expr);
}

}  // namespace groma::syntax
