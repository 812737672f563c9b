// The parser's class, with one function for each rule of the language. The functions are defined in
// parser.cc (tokens, errors), parser_statements.cc, parser_parts.cc and parser_expressions.cc.
//
// Recovery: the first error in a statement sets panic_. panic_ silences all further errors and
// makes every function return at once. finish_statement then skips to the beginning of the next
// statement.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "groma/diagnostics.h"
#include "syntax/lexer.h"
#include "syntax/limits.h"
#include "syntax/tree.h"

namespace groma::syntax {

// Returns true if the token is a name or a reserved word.
inline bool is_word(TokenKind kind) {
  return kind == TokenKind::kName ||
         (kind >= TokenKind::kStatementWord && kind <= TokenKind::kMachine);
}

// Returns the binary operator for a sign, or nullopt.
std::optional<Operator> binary_operator(TokenKind kind);

class Parser {
 public:
  Parser(const Source& source, Diagnostics& diags, bool keep_comments);
  Tree run();

 private:
  // ---- tokens

  void advance();
  bool at(TokenKind kind) const { return token_.kind == kind; }
  bool at_word(StatementKind kind) const;
  bool accept(TokenKind kind);
  bool expect(TokenKind kind);
  std::string_view text(Range range) const { return tree_.source.text(range); }
  std::string describe(const Token& token) const;
  bool begins_statement() const;
  bool at_next_statement() const;
  bool looks_like_statement() const;
  bool looks_like_word(TokenKind kind) const;
  bool unindented_word() const;
  bool stands_alone() const;
  std::size_t indentation() const;

  // ---- errors

  // Reports an error and panics. Returns null if an error in this statement was reported before.
  template <typename... Args>
  Diagnostic* report(DiagId id, Range range, const Args&... args) {
    if (panic_) return nullptr;
    panic_ = true;
    panic_brackets_ = brackets_;
    return &diags_.report(id, range, args...);
  }
  void report_expected(std::string_view what);
  void report_too_large(std::size_t limit, std::string_view what);
  void suggest(Diagnostic& diagnostic, Range range, std::span<const std::string_view> candidates);
  void suggest(Diagnostic& diagnostic, Range range, TokenKind kind);
  void synchronize(bool in_body);
  void finish_statement(bool in_body);

  // ---- statements

  void statement(std::vector<Statement>& into, bool in_body);
  bool top_statement(Statement& made);
  bool body_statement(Statement& made);
  bool reserved_target() const;
  bool unknown_statement(Statement& made, bool in_body);
  bool looks_like_assignment() const;
  bool lacks_assign() const;
  bool looks_like_def() const;
  bool def_without_keyword(Statement& made, bool in_body);
  bool control_word() const;
  void control(std::vector<Statement>& into, bool in_body);
  void controlled(std::vector<Statement>& into, bool in_body, std::size_t column);
  bool leaves_body() const;
  bool task(Statement& made);
  bool region(Statement& made);
  bool layout(Statement& made);
  bool instance_limit(Statement& made);
  LimitScope limit_scope();
  bool collect_memory(Statement& made);
  bool task_map(Statement& made, bool index);
  bool control_replicate(Statement& made);
  bool task_steal(Statement& made);
  bool assign(Statement& made);
  bool print(Statement& made);
  bool def(Statement& made);
  bool nested_def(bool word);
  bool skip_to_body();
  void body_without_brace(std::vector<Statement>& body);
  void braced_body(std::vector<Statement>& body, const Token& opening);
  void colon_body(std::vector<Statement>& body, const Token& opening, const Name& name);

  // ---- parts of statements

  bool token_is_proc() const { return at(TokenKind::kProcWord); }
  List names(std::string_view of_what, bool kind_follows = false);
  Name path_name(std::string_view of_what);
  NameId spaced_path(Range range);
  Name bad_name(std::string_view of_what);
  enum class Named : std::uint8_t { kFunction, kParameter, kVariable };
  Name plain_name(Named what);
  List which();
  RegionRef region_ref();
  Place place(bool memory_too);
  KindWord kind_word(TokenKind kind, bool last);
  List word_list(TokenKind kind);
  List constraints();
  void alignment(Constraint& constraint);
  std::int64_t integer(std::string_view what);
  std::int64_t integer_value(Range range);
  List params();

  // ---- expressions

  ExprId add(Expr expr);
  int height(ExprId id) const { return id == kNoExpr ? 0 : tree_.exprs[id].height; }
  std::uint32_t begin_of(ExprId id) const { return tree_.exprs[id].range.begin; }
  static std::uint16_t above(int height) { return static_cast<std::uint16_t>(height + 1); }
  int height(List list) const;
  List take_pending(std::size_t first);
  void close_bracket(TokenKind kind, std::uint32_t open);
  // One level of recursion. Reports an error beyond kMaxNesting levels.
  class NestingLevel {
   public:
    explicit NestingLevel(Parser& parser) : parser_(parser) {
      if (++parser_.depth_ <= kMaxNesting) return;
      if (Diagnostic* diagnostic =
              parser_.report(DiagId::kNestingTooDeep, parser_.token_.range, kMaxNesting)) {
        diagnostic->help("give parts of it names in statements of their own");
      }
    }
    ~NestingLevel() { --parser_.depth_; }
    NestingLevel(const NestingLevel&) = delete;
    NestingLevel& operator=(const NestingLevel&) = delete;

   private:
    Parser& parser_;
  };
  ExprId expression();
  ExprId binary(int least);
  std::optional<Operator> operator_here() const;
  bool at_not() const;
  ExprId not_word();
  void report_operator_word(std::string_view sign);
  ExprId unary();
  ExprId postfix();
  ExprId call(ExprId callee);
  ExprId index_or_slice(ExprId base);
  ExprId slice(ExprId base, ExprId from, std::uint32_t open);
  ExprId member(ExprId base);
  ExprId element(bool in_call);
  ExprId star_element();
  ExprId option();
  List elements(TokenKind closing, std::uint32_t open, bool in_call);
  List more_elements(std::size_t first, TokenKind closing, std::uint32_t open, bool in_call);
  void check_star(ExprId id, TokenKind closing);
  ExprId token_expr(ExprKind kind, std::uint32_t a = 0, std::uint32_t b = 0);
  ExprId primary();
  ExprId parenthesized();
  ExprId tuple_or_call();
  ExprId comprehension(const Token& word, ExprId item, std::uint32_t open);
  Diagnostics& diags_;
  Tree tree_;
  Lexer lexer_;
  Token token_, next_;
  // The end of the token before token_.
  std::uint32_t last_end_ = 0;
  TokenKind last_kind_ = TokenKind::kEnd;
  // The items of the lists that are being read.
  std::vector<ExprId> pending_;
  std::size_t statement_count_ = 0;
  // The number of `(` and `[` of this statement that are open.
  int brackets_ = 0;
  // The number of brackets that were open at the error.
  int panic_brackets_ = 0;
  // The depth of the recursion.
  int depth_ = 0;
  // The number of `}` that were reported as missing. The same number of later ones is not reported
  // as errors.
  int expected_braces_ = 0;
  // True if an error in this statement was reported.
  bool panic_ = false;
  // True if the previous statement had an error.
  bool recovered_ = false;
  // True if the previous statement on this line had an error.
  bool after_mistake_ = false;
  // True if a statement of the current function had an error.
  bool body_broken_ = false;
  // True if a limit was exceeded.
  bool stopped_ = false;
};
}  // namespace groma::syntax
