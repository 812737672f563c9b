// Tree: the result of the parser. Nodes are plain values in flat vectors and refer to each other by
// index, children before parents. So a tree of any size is built and freed without recursion.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "base/names.h"
#include "groma/kinds.h"
#include "groma/source.h"
#include "syntax/lexer.h"
#include "syntax/token.h"

namespace groma::syntax {

// `count` entries of a vector of the Tree, from index `begin` on. The comment of a field of this
// type names the vector.
struct IndexRange {
  std::uint32_t begin = 0;
  std::uint32_t count = 0;
};

// ------------------------------------------------------------------------------------ expressions

using ExprId = std::uint32_t;
inline constexpr ExprId kNoExpr = 0xFFFFFFFF;

enum class ExprKind : std::uint8_t {
  // An expression with an error, which was reported.
  kError,
  // An integer, which value() returns.
  kInt,
  // A truth value; `a` is 0 or 1.
  kBool,
  // A string. Its text, with the quotes, is in `range`.
  kString,
  // A name; `a` is its NameId.
  kName,
  // A kind of processor; `a` is the ProcKind.
  kProc,
  // A kind of memory; `a` is the MemKind.
  kMem,
  // The word `Machine`.
  kMachine,
  // The expression `a` in parentheses.
  kParen,
  // A tuple. Its elements are the List that begins at `a` and has `b` entries.
  kTuple,
  // A tuple with the value of item `a` for each value of a variable, which takes the values of
  // range `b`. `c` is the NameId of the variable, which is at offset `at`.
  kComprehension,
  // The operator `op` applied to the expression `a`.
  kUnary,
  // The expressions `a` and `b` with the operator `op` between them. The operator is at offset
  // `at`.
  kBinary,
  // A conditional `a ? b : c`: the condition, then the values of its two branches.
  kConditional,
  // A call of `c`. Its arguments are the List that begins at `a` and has `b` entries.
  kCall,
  // An argument NAME = value of a call; `a` is the value, `c` the NameId.
  kOption,
  // The base `c` with an index. The index elements are the List that begins at `a` and has `b`
  // entries.
  kIndex,
  // A slice of the base `c` from `a` to `b`. A missing end is kNoExpr.
  kSlice,
  // A member of the expression `a`; `c` is the NameId of the member, which is at offset `at`.
  kMember,
  // A list element `*a`, which stands for the items of the tuple `a`.
  kSplice,
  // An index element `*`, which stands for all indices of a dimension.
  kAll,
};

enum class Operator : std::uint8_t {
  kOr,
  kAnd,
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kModulo,
  kNegate,
  kNot,
};
// Returns the operator as programs write it.
std::string_view spelling_of(Operator op);
// Returns how tightly a binary operator binds, from 1 (`||`) to 6 (`* / %`).
int precedence_of(Operator op);

// A node of the syntax tree: one expression. The comments of ExprKind say what `a`, `b` and `c`
// hold.
struct Expr {
  Expr() = default;
  explicit Expr(ExprKind expr_kind, Operator expr_op = Operator::kOr)
      : kind(expr_kind), op(expr_op) {}

  ExprKind kind = ExprKind::kError;
  Operator op = Operator::kOr;
  // The height of this subtree, at most kMaxNesting.
  std::uint16_t height = 0;
  Range range;
  // The byte offset in the source of the node's operator, member or variable, if its kind has one.
  std::uint32_t focus_offset = 0;
  std::uint32_t a = 0, b = 0, c = 0;

  // Returns the value of a kInt.
  std::int64_t value() const { return static_cast<std::int64_t>((std::uint64_t{b} << 32) | a); }
};

// ------------------------------------------------------------------------------------- statements

// One occurrence of a name in the source text. The name of a task may be a pattern or a selector
// (NameTable::is_pattern, NameTable::selector).
struct NameUse {
  NameId id = kStarName;
  Range range;
};

// A word for a kind of processor or memory in the source text. `value` is the ProcKind or MemKind.
struct KindWord {
  std::uint8_t value = 0;
  Range range;
};

// A region that a statement names: by a name or a pattern, by a position among the task's
// requirements, or `*`.
struct RegionRef {
  bool is_position = false;
  // The position if `is_position` is true, otherwise the NameId.
  std::uint32_t value = kStarName;
  Range range;
};

// The place to which a Region or Layout statement applies: everywhere, a processor kind, or a
// memory kind.
struct StatementPlace {
  enum class Kind : std::uint8_t { kAny, kProc, kMem };
  Kind kind = Kind::kAny;
  KindWord word;
};

// A constraint of a Layout statement, such as `SOA`. Only `Align` uses `op` and `bytes`.
struct LayoutConstraint {
  ConstraintWord word = ConstraintWord::kSoa;
  AlignOp op = AlignOp::kNone;
  std::int64_t bytes = 0;
  Range range;
};

struct Param {
  ParamType type = ParamType::kAny;
  NameUse name;
};

// In the statements below, `names` is a range of Tree::names, `which` of Tree::region_refs, and
// `procs` and `memories` are ranges of Tree::kind_words. The comments of other ranges name their
// vectors.
struct TaskStatement {
  IndexRange names, procs;
};
struct RegionStatement {
  IndexRange names, which;
  StatementPlace place;
  IndexRange memories;
};
struct LayoutStatement {
  IndexRange names, which;
  StatementPlace place;
  // The range of the statement's constraints in Tree::constraints.
  IndexRange constraints;
};
struct InstanceLimitStatement {
  IndexRange names;
  std::optional<KindWord> proc;
  std::int64_t limit = 0;
  LimitScope scope = LimitScope::kProcessor;
};
struct CollectMemoryStatement {
  IndexRange names, which;
};
// The statements IndexTaskMap and SingleTaskMap.
struct TaskMapStatement {
  bool index = true;
  // The tasks to which the statement binds the function. Empty if it binds a processor kind.
  IndexRange names;
  std::optional<KindWord> proc;
  NameUse function;
};
struct ControlReplicateStatement {
  IndexRange names;
};
struct TaskStealStatement {
  IndexRange names;
  KindWord proc;
  StealScope scope = StealScope::kSameNode;
};
// The head of a `when` block. The statements of the block follow in Tree::statements.
struct WhenStatement {
  ExprId condition = kNoExpr;
  // The number of statements in the block.
  std::uint32_t count = 0;
};
struct AssignStatement {
  NameUse target;
  ExprId value = kNoExpr;
  // True if the assignment has an error but seems to define the name of `target`. Any other
  // definition of the name takes precedence.
  bool implied = false;
};
struct PrintStatement {
  // The range in the source of the text to print, with its quotes.
  Range text;
  // The range of the printed expressions in Tree::expr_lists.
  IndexRange args;
};
struct ReturnStatement {
  ExprId value = kNoExpr;
};
struct DefStatement {
  NameUse name;
  // The range of the function's parameters in Tree::params.
  IndexRange params;
  // The range of the function's statements in Tree::body_statements.
  IndexRange body;
  // The range in Tree::exprs of all expressions in the function's body.
  IndexRange exprs;
  // True if an error was reported in the parameters of the function.
  bool head_broken = false;
  // True if an error was reported in the body of the function.
  bool body_broken = false;
};

struct Statement {
  std::variant<TaskStatement, RegionStatement, LayoutStatement, InstanceLimitStatement,
               CollectMemoryStatement, TaskMapStatement, ControlReplicateStatement,
               TaskStealStatement, AssignStatement, PrintStatement, ReturnStatement, DefStatement,
               WhenStatement>
      node;
  // The range of the statement without its `;`.
  Range range;
  // The end of the statement with its `;`, if it has one.
  std::uint32_t end = 0;
  // The number of the WhenStatement in Tree::statements in whose block the statement stands,
  // counted from 1. 0: in none.
  std::uint32_t when = 0;
};

// A parsed program.
struct Tree {
  Source source;
  NameTable name_table;
  std::vector<Expr> exprs;
  std::vector<ExprId> expr_lists;
  std::vector<NameUse> names;
  // The words of selectors, in the order of the text, with the ranges at which they stand.
  std::vector<NameUse> selected_names;
  std::vector<KindWord> kind_words;
  std::vector<RegionRef> region_refs;
  std::vector<LayoutConstraint> constraints;
  std::vector<Param> params;
  // The statements of functions.
  std::vector<Statement> body_statements;
  // The statements of the program, in order. The statements of a `when` block follow its head.
  std::vector<Statement> statements;
  // The comments of the source text, if the caller asked for them.
  std::vector<SourceComment> comments;

  // Returns the entries of `all` that belong to the range `list`.
  template <typename T>
  static std::span<const T> entries_of(const std::vector<T>& all, IndexRange list) {
    return std::span<const T>(all).subspan(list.begin, list.count);
  }
  std::span<const NameUse> names_of(IndexRange list) const { return entries_of(names, list); }
  std::span<const ExprId> exprs_of(IndexRange list) const { return entries_of(expr_lists, list); }
  // Returns the elements or arguments of a kTuple, kCall or kIndex.
  std::span<const ExprId> elements_of(const Expr& expr) const {
    return entries_of(expr_lists, {expr.a, expr.b});
  }
};

}  // namespace groma::syntax
