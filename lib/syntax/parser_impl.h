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
  Tree parse_program();

 private:
  // ---- tokens

  void advance_token();
  bool at_token(TokenKind kind) const { return token_.kind == kind; }
  bool at_statement_word(StatementKind kind) const;
  bool accept_token(TokenKind kind);
  bool expect_token(TokenKind kind);
  std::string_view source_text(Range range) const { return tree_.source.text(range); }
  std::string describe_token(const Token& token) const;
  bool begins_statement() const;
  bool at_next_statement() const;
  bool looks_like_statement() const;
  bool looks_like_word(TokenKind kind) const;
  bool at_word_in_first_column() const;
  bool statement_word_stands_alone() const;
  std::size_t token_indentation() const;

  // ---- errors

  // Reports an error, and sets panic_ so that later errors of the statement are not reported.
  // Returns null if an error in this statement was reported before.
  template <typename... Args>
  Diagnostic* report(DiagId id, Range range, const Args&... args) {
    if (panic_) return nullptr;
    panic_ = true;
    panic_brackets_ = brackets_;
    Diagnostic& diagnostic = diags_.report(id, range, args...);
    help_with_pattern(diagnostic);
    return &diagnostic;
  }
  bool help_with_pattern(Diagnostic& diagnostic);
  void report_expected(std::string_view what);
  void report_exceeded_limit(std::size_t limit, std::string_view what);
  void suggest_spellings(Diagnostic& diagnostic, Range range,
                         std::span<const std::string_view> candidates);
  void suggest_spellings(Diagnostic& diagnostic, Range range, TokenKind kind);
  void skip_to_next_statement(bool in_body);
  void finish_statement(bool in_body);

  // ---- statements

  void parse_statement(std::vector<Statement>& into, bool in_body);
  bool parse_top_statement(Statement& made);
  bool parse_body_statement(Statement& made);
  bool at_reserved_target() const;
  bool report_unknown_statement(Statement& made, bool in_body);
  bool looks_like_assignment() const;
  bool lacks_assign_sign() const;
  bool looks_like_def() const;
  bool parse_def_without_keyword(Statement& made, bool in_body);
  bool at_control_word() const;
  void parse_control_word(std::vector<Statement>& into, bool in_body);
  void parse_controlled_statements(std::vector<Statement>& into, bool in_body, std::size_t column);
  bool at_end_of_body() const;
  bool at_when() const;
  void parse_when(std::vector<Statement>& into);
  bool at_definition() const;
  bool parse_task(Statement& made);
  bool parse_region(Statement& made);
  bool parse_layout(Statement& made);
  bool parse_instance_limit(Statement& made);
  LimitScope parse_limit_scope();
  bool parse_collect_memory(Statement& made);
  bool parse_task_map(Statement& made, bool index);
  bool parse_control_replicate(Statement& made);
  bool parse_task_steal(Statement& made);
  bool parse_assign(Statement& made);
  bool parse_print(Statement& made);
  bool parse_def(Statement& made);
  bool report_nested_def(bool word);
  bool skip_to_function_body();
  void parse_body_without_brace(std::vector<Statement>& body);
  void parse_braced_body(std::vector<Statement>& body, const Token& opening);
  void parse_colon_body(std::vector<Statement>& body, const Token& opening, const NameUse& name);

  // ---- parts of statements

  bool at_processor_kind() const { return at_token(TokenKind::kProcWord); }
  // The lists of names. In those of a statement with regions, a `*` directly behind a name may also
  // be a word of its own, as in `Region a* GPU FBMEM`.
  enum class NameList : std::uint8_t {
    kTasks,
    kRegionTasks,
    kRegionRegions,
    kLayoutTasks,
    kLayoutRegions,
    kCollectTasks,
    kCollectRegions,
  };
  IndexRange parse_names(NameList list_kind, bool kind_follows = false);
  NameUse parse_task(NameList list_kind);
  NameUse parse_task_word(NameList list_kind);
  static bool continues_selector(TokenKind kind);
  NameUse parse_path_name(std::string_view of_what, NameList list_kind);
  bool at_adjacent(TokenKind kind) const;
  bool accept_pattern_star(Range name, NameList list_kind);
  bool star_stands_alone(NameList list_kind) const;
  bool at_statement_end() const;
  std::string joined_path_name(Range range) const;
  NameUse parse_reserved_name(std::string_view of_what);
  enum class NamedThing : std::uint8_t { kFunction, kParameter, kVariable };
  NameUse parse_identifier(NamedThing what);
  IndexRange parse_regions(NameList list_kind);
  RegionRef parse_region_ref(NameList list_kind);
  StatementPlace parse_place(bool memory_too);
  KindWord parse_kind_word(TokenKind kind, bool last);
  IndexRange parse_kind_words(TokenKind kind);
  IndexRange parse_constraints();
  void parse_alignment(LayoutConstraint& constraint);
  std::int64_t parse_integer(std::string_view what);
  std::int64_t integer_at(Range range);
  IndexRange parse_params();

  // ---- expressions

  ExprId add_expr(Expr expr);
  int expr_height(ExprId id) const { return id == kNoExpr ? 0 : tree_.exprs[id].height; }
  std::uint32_t begin_of_expr(ExprId id) const { return tree_.exprs[id].range.begin; }
  static std::uint16_t height_above(int height) { return static_cast<std::uint16_t>(height + 1); }
  int expr_height(IndexRange list) const;
  IndexRange take_pending(std::size_t first);
  void close_bracket(TokenKind kind, std::uint32_t open);
  // Counts one level of the parser's recursion as long as the object exists. Reports an error
  // beyond kMaxNesting levels.
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
  ExprId parse_expression();
  ExprId parse_binary(int least);
  std::optional<Operator> operator_at_token() const;
  bool at_not_word() const;
  ExprId parse_not_word();
  void report_operator_word(std::string_view sign);
  ExprId parse_unary();
  ExprId parse_postfix();
  ExprId parse_call(ExprId callee);
  ExprId parse_index_or_slice(ExprId base);
  ExprId parse_slice(ExprId base, ExprId from, std::uint32_t open);
  ExprId parse_member(ExprId base);
  ExprId parse_element(bool in_call);
  ExprId parse_star_element();
  ExprId parse_option();
  IndexRange parse_elements(TokenKind closing, std::uint32_t open, bool in_call);
  IndexRange parse_more_elements(std::size_t first, TokenKind closing, std::uint32_t open,
                                 bool in_call);
  void report_misplaced_star(ExprId id, TokenKind closing);
  ExprId parse_token_expr(ExprKind kind, std::uint32_t a = 0, std::uint32_t b = 0);
  ExprId parse_primary();
  ExprId parse_parenthesized();
  ExprId parse_tuple_or_call();
  ExprId parse_comprehension(const Token& word, ExprId item, std::uint32_t open);
  Diagnostics& diags_;
  Tree tree_;
  Lexer lexer_;
  Token token_, next_;
  // The offset in the source at which the token before token_ ends.
  std::uint32_t last_end_ = 0;
  TokenKind last_kind_ = TokenKind::kEnd;
  // The items of the lists that the parser has begun and not finished, such as the arguments of a
  // call.
  std::vector<ExprId> pending_;
  std::size_t statement_count_ = 0;
  // The number of `(` and `[` of the current statement that are open.
  int brackets_ = 0;
  // The number of brackets that were open at the first error of the statement.
  int panic_brackets_ = 0;
  // The depth of the parser's recursion, counted by NestingLevel.
  int depth_ = 0;
  // The number of missing `}` that were reported. As many surplus `}` that follow are not reported
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
  // The number of the `when` statement whose block is read, as in Statement::when.
  std::uint32_t when_ = 0;
  // A `*` behind a name that was read and is the next word of the statement.
  std::optional<Range> separate_star_;
  // True if the statement has a `*` directly before a name, which may be meant as a name pattern.
  bool star_before_name_ = false;
  // True if the program exceeded a limit. The parsing then ends.
  bool stopped_ = false;
};
}  // namespace groma::syntax
