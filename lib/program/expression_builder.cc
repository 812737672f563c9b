// Builds each kind of expression and checks the types of its operands.
#include "program/expression_builder.h"

#include <fmt/format.h>

#include "groma/spelling.h"
#include "program/members.h"

namespace groma::program {

using syntax::Expr;
using syntax::ExprId;
using syntax::ExprKind;
using syntax::kNoExpr;

namespace {

// Returns the text in backticks, as messages show code.
std::string quote(std::string_view text) { return fmt::format("`{}`", text); }

// The operations of the binary operators, in the order of syntax::Operator.
constexpr Op kBinaryOps[] = {Op::kOr,    Op::kAnd,       Op::kEqual,    Op::kNotEqual,
                             Op::kLess,  Op::kLessEqual, Op::kGreater,  Op::kGreaterEqual,
                             Op::kAdd,   Op::kSubtract,  Op::kMultiply, Op::kDivide,
                             Op::kModulo};

}  // namespace

// Builds an expression of any kind. It builds literals itself, and calls one function for each
// other kind.
CodeId ExpressionBuilder::build_expression(ExprId id) {
  if (id == kNoExpr) return context_.make_broken_code({});
  const Expr& expr = context_.expr_of(id);
  switch (expr.kind) {
    case ExprKind::kInt:
      return context_.make_code(Op::kInt, Type::kInt, expr.range, expr.a, expr.b);
    case ExprKind::kBool:
      return context_.make_code(Op::kBool, Type::kBool, expr.range, expr.a);
    case ExprKind::kString:
      context_.data.strings.push_back(
          syntax::unescape_string(context_.tree.source.text(expr.range)));
      return context_.make_code(Op::kString, Type::kString, expr.range,
                                static_cast<std::uint32_t>(context_.data.strings.size() - 1));
    case ExprKind::kName:
      return build_name(expr);
    case ExprKind::kProc:
      return context_.make_code(Op::kProcKind, Type::kProcKind, expr.range, expr.a);
    case ExprKind::kMem:
      return context_.make_code(Op::kMemKind, Type::kMemKind, expr.range, expr.a);
    case ExprKind::kMachine:
      context_
          .report(DiagId::kWrongArgumentCount, expr.range,
                  {std::string("Machine"), std::string("a processor kind"), std::string("nothing")})
          .help("write `Machine(GPU)`, with parentheses");
      return context_.make_broken_code(expr.range);
    case ExprKind::kParen:
      return build_expression(expr.a);
    case ExprKind::kTuple:
      return build_tuple(expr);
    case ExprKind::kComprehension:
      return build_comprehension(expr);
    case ExprKind::kUnary:
      return build_unary(expr);
    case ExprKind::kBinary:
      return build_binary(expr);
    case ExprKind::kConditional:
      return build_conditional(expr);
    case ExprKind::kCall:
      return calls_.build_call(expr);
    case ExprKind::kIndex:
      return build_index(expr);
    case ExprKind::kSlice:
      return build_slice(expr);
    case ExprKind::kMember:
      return calls_.build_member_read(expr);
    case ExprKind::kError:
    case ExprKind::kOption:
    case ExprKind::kSplice:
    case ExprKind::kAll:
      break;
  }
  return context_.make_broken_code(expr.range);
}

// Builds the use of a variable. A local hides a global; a function's name alone is not a value.
CodeId ExpressionBuilder::build_name(const Expr& expr) {
  if (const LocalVariable* local = context_.scope.find_local(expr.a)) {
    return context_.make_code(Op::kLocal, local->type, expr.range, local->slot);
  }
  const std::string_view spelled = context_.name_text(expr.a);
  const Symbol symbol = context_.definitions.symbols[expr.a];
  if (symbol.kind == Symbol::Kind::kGlobal) {
    if (context_.function == nullptr && symbol.index >= context_.current_global) {
      context_.report(DiagId::kUseBeforeStatement, expr.range, {std::string(spelled)})
          .note("it is assigned here", context_.data.globals[symbol.index].range);
    }
    return context_.make_code(Op::kGlobal, Type::kAny, expr.range, symbol.index);
  }
  if (symbol.kind == Symbol::Kind::kFunction) {
    context_
        .report(DiagId::kTypeMismatch, expr.range,
                {std::string("an expression"), std::string("a value"),
                 fmt::format("the function `{}`", spelled)})
        .help(fmt::format("call it: `{}(...)`", spelled));
    return context_.make_broken_code(expr.range);
  }
  return report_unknown_name(expr);
}

// Reports a name that is not defined, with a suggestion. The name is reported once in a function. A
// report from inside a branch of `?:` is only a warning, so the name is reported again outside of
// branches.
CodeId ExpressionBuilder::report_unknown_name(const Expr& expr) {
  const std::string_view spelled = context_.name_text(expr.a);
  if (context_.diags.full()) return context_.make_broken_code(expr.range);
  const bool sure = context_.branch_depth == 0;
  for (const auto& [name, was_sure] : unknown_) {
    if (name == expr.a && (was_sure || !sure)) return context_.make_broken_code(expr.range);
  }
  unknown_.emplace_back(expr.a, sure);
  Diagnostic& diagnostic =
      context_.report(DiagId::kUnknownName, expr.range, {std::string(spelled)});
  // Suggest variables, globals and the words that stand for values.
  std::vector<std::string_view> candidates;
  for (const LocalVariable& local : context_.scope.all_locals())
    candidates.push_back(context_.name_text(local.name));
  for (const GlobalVariable& global : context_.data.globals)
    candidates.push_back(context_.name_text(global.name));
  for (const syntax::ReservedWord& word : syntax::reserved_words()) {
    using syntax::TokenKind;
    const bool value = word.kind == TokenKind::kProcWord || word.kind == TokenKind::kMemWord ||
                       word.kind == TokenKind::kTrue || word.kind == TokenKind::kFalse;
    if (value) candidates.push_back(word.text);
  }
  suggest(diagnostic, spelled, candidates, expr.range);
  return context_.make_broken_code(expr.range);
}

IndexRange ExpressionBuilder::build_expressions(std::span<const ExprId> exprs) {
  const std::size_t first = pending_.size();
  for (const ExprId id : exprs) {
    const CodeId built = build_expression(id);
    pending_.push_back(built);
  }
  return take_pending(first);
}

// Builds the elements of a tuple, an index or a call. The items are kept in pending_ until the list
// is complete, because an item may contain a list itself.
ElementList ExpressionBuilder::build_elements(const Expr& expr, std::string_view option_name,
                                              std::string_view callee) {
  ElementList made;
  const std::size_t first = pending_.size();
  for (ExprId id : context_.tree.elements_of(expr)) {
    const Expr& element = context_.expr_of(id);
    if (element.kind == ExprKind::kAll) {
      pending_.push_back(context_.make_code(Op::kAll, Type::kAny, element.range));
    } else if (element.kind == ExprKind::kSplice) {
      const CodeId inner = build_expression(element.a);
      if (!is_unknown_type(context_.type_of(inner)) && !is_pair_like(context_.type_of(inner))) {
        context_.report_type_mismatch(context_.range_of(inner), "`*` before an expression",
                                      "a tuple", context_.type_of(inner));
      }
      pending_.push_back(
          context_.make_code(Op::kSplice, context_.type_of(inner), element.range, inner));
    } else if (element.kind == ExprKind::kOption) {
      const CodeId value = build_expression(element.a);
      // If the called function is unknown, the names of its options are not checked.
      if (callee.empty()) continue;
      if (!option_name.empty() && context_.name_text(element.c) == option_name) {
        made.option = value;
      } else {
        context_.report(DiagId::kUnknownOption, {element.range.begin, element.focus_offset},
                        {std::string(callee), std::string(context_.name_text(element.c))});
        made.unknown_option = true;
      }
    } else {
      const CodeId built = build_expression(id);
      pending_.push_back(built);
    }
  }
  made.list = take_pending(first);
  return made;
}

// Moves the entries of pending_ from index `first` on to the end of ProgramData::lists, and returns
// their range there.
IndexRange ExpressionBuilder::take_pending(std::size_t first) {
  const IndexRange list{static_cast<std::uint32_t>(context_.data.lists.size()),
                        static_cast<std::uint32_t>(pending_.size() - first)};
  context_.data.lists.insert(context_.data.lists.end(),
                             pending_.begin() + static_cast<std::ptrdiff_t>(first), pending_.end());
  pending_.resize(first);
  return list;
}

bool ExpressionBuilder::has_splice(IndexRange list) const {
  for (std::uint32_t i = 0; i < list.count; ++i) {
    if (context_.data.code[context_.data.lists[list.begin + i]].op == Op::kSplice) return true;
  }
  return false;
}

// Builds `(a, b, *c)`. Spliced items are opened when the tuple is evaluated.
CodeId ExpressionBuilder::build_tuple(const Expr& expr) {
  const IndexRange list = build_elements(expr).list;
  return context_.make_code(Op::kTuple, Type::kTuple, expr.range, list.begin, list.count);
}

// Builds `tuple(item for variable in range)`. The variable's slot is visible only in `item`.
CodeId ExpressionBuilder::build_comprehension(const Expr& expr) {
  const CodeId range = build_expression(expr.b);
  if (!is_unknown_type(context_.type_of(range)) && !is_pair_like(context_.type_of(range))) {
    context_.report_type_mismatch(context_.range_of(range), "`tuple(... for ... in ...)`",
                                  "a tuple to go through", context_.type_of(range));
  }
  // The range was built before the variable is declared, so it cannot refer to the variable.
  const std::uint32_t slot = context_.scope.declare_local(expr.c, Type::kAny);
  const CodeId item = build_expression(expr.a);
  // The scope of the variable ends here. It is the last variable that was declared, because an
  // expression cannot assign others.
  context_.scope.remove_last_local();
  return context_.make_code(Op::kComprehension, Type::kTuple, expr.range, item, range, slot);
}

// Builds `-x` or `!x`. A tuple is negated item by item.
CodeId ExpressionBuilder::build_unary(const Expr& expr) {
  const CodeId operand = build_expression(expr.a);
  const Type type = context_.type_of(operand);
  CodeNode code;
  code.range = expr.range;
  code.focus = {expr.focus_offset, expr.focus_offset + 1};
  code.a = operand;
  if (expr.op == syntax::Operator::kNot) {
    code.op = Op::kNot;
    code.type = Type::kBool;
    if (!is_unknown_type(type) && type != Type::kBool) {
      context_.report_type_mismatch(context_.range_of(operand), "`!`", "a bool", type);
    }
  } else {
    code.op = Op::kNegate;
    code.type = type == Type::kInt ? Type::kInt : is_pair_like(type) ? Type::kTuple : Type::kAny;
    if (!is_unknown_type(type) && type != Type::kInt && !is_pair_like(type)) {
      context_.report_type_mismatch(context_.range_of(operand), "`-`", "an integer or a tuple",
                                    type);
    }
  }
  return context_.add_code(code);
}

// Builds `a OP b` for the arithmetic, comparing and logical operators.
CodeId ExpressionBuilder::build_binary(const Expr& expr) {
  const CodeId left = build_expression(expr.a);
  const CodeId right = build_expression(expr.b);
  const std::string_view sign = syntax::spelling_of(expr.op);
  CodeNode code;
  code.op = kBinaryOps[static_cast<std::size_t>(expr.op)];
  code.range = expr.range;
  code.focus = {expr.focus_offset, expr.focus_offset + static_cast<std::uint32_t>(
                                                           syntax::spelling_of(expr.op).size())};
  code.a = left, code.b = right;
  if (code.op >= Op::kAdd && code.op <= Op::kModulo) {
    code.type = arithmetic_type(left, right, sign);
  } else {
    code.type = comparison_type(code, left, right, sign);
  }
  return context_.add_code(code);
}

// Returns the type of an arithmetic operator. A tuple on one side makes the result a tuple.
Type ExpressionBuilder::arithmetic_type(CodeId left, CodeId right, std::string_view sign) {
  bool fits = true;
  for (CodeId side : {left, right}) {
    const Type type = context_.type_of(side);
    if (is_unknown_type(type) || type == Type::kInt || is_pair_like(type)) continue;
    if (fits)
      context_.report_type_mismatch(context_.range_of(side), quote(sign), "integers or tuples",
                                    type);
    fits = false;
  }
  if (!fits) return Type::kAny;
  if (is_pair_like(context_.type_of(left)) || is_pair_like(context_.type_of(right)))
    return Type::kTuple;
  return context_.type_of(left) == Type::kInt && context_.type_of(right) == Type::kInt ? Type::kInt
                                                                                       : Type::kAny;
}

// Checks the operands of a comparison or a logical operator; the result is always a bool. Machines,
// tasks and sets of processors cannot be compared.
Type ExpressionBuilder::comparison_type(const CodeNode& code, CodeId left, CodeId right,
                                        std::string_view sign) {
  if (code.op == Op::kEqual || code.op == Op::kNotEqual) {
    const Type a = context_.type_of(left), b = context_.type_of(right);
    const auto comparable = [](Type type) {
      return type != Type::kMachine && type != Type::kTask && type != Type::kParent &&
             type != Type::kProcessors;
    };
    for (CodeId side : {left, right}) {
      if (comparable(context_.type_of(side))) continue;
      context_.report_type_mismatch(context_.range_of(side), quote(sign),
                                    "values that can be compared", context_.type_of(side));
      return Type::kBool;
    }
    // A processor is compared with a tuple as the pair of its node and index.
    const bool same =
        a == b || is_unknown_type(a) || is_unknown_type(b) || (is_pair_like(a) && is_pair_like(b));
    if (!same) {
      context_.report(DiagId::kTypeMismatch, code.focus,
                      {quote(sign), std::string("two values of one type"),
                       fmt::format("{} and {}", describe_type(a), describe_type(b))});
    }
    return Type::kBool;
  }
  const bool logical = code.op == Op::kAnd || code.op == Op::kOr;
  const Type wanted = logical ? Type::kBool : Type::kInt;
  for (CodeId side : {left, right}) {
    if (is_unknown_type(context_.type_of(side)) || context_.type_of(side) == wanted) continue;
    context_.report_type_mismatch(context_.range_of(side), quote(sign),
                                  logical ? "bools" : "integers", context_.type_of(side));
    break;
  }
  return Type::kBool;
}

// Builds `condition ? yes : no`. The result has a known type only if both branches have the same.
CodeId ExpressionBuilder::build_conditional(const Expr& expr) {
  const Expr& condition = context_.expr_of(context_.without_parentheses(expr.a));
  if (context_.expr_of(expr.c).kind == ExprKind::kConditional) {
    context_.diags.add(DiagId::kOriginalDiffers, context_.expr_of(expr.c).range,
                       {std::string("`?:` groups to the right; the original groups to the left"),
                        std::string("D9")});
  }
  // If the condition is a literal, only the chosen branch is built. The other one is never
  // evaluated, so mistakes in it do not matter.
  if (condition.kind == ExprKind::kBool)
    return build_expression(condition.a != 0 ? expr.b : expr.c);
  const CodeId test = build_expression(expr.a);
  // Mistakes in a branch are warnings, because the branch may never be taken.
  ++context_.branch_depth;
  const CodeId yes = build_expression(expr.b);
  const CodeId no = build_expression(expr.c);
  --context_.branch_depth;
  if (!is_unknown_type(context_.type_of(test)) && context_.type_of(test) != Type::kBool) {
    context_.report_type_mismatch(context_.range_of(test), "the condition of `?:`", "a bool",
                                  context_.type_of(test));
  }
  const Type type =
      context_.type_of(yes) == context_.type_of(no) ? context_.type_of(yes) : Type::kAny;
  return context_.make_code(Op::kConditional, type, expr.range, test, yes, no);
}

// Builds an index: one processor of a machine, several processors if an index is a bare `*`, or one
// item of a tuple. A machine accepts a whole tuple as its index.
CodeId ExpressionBuilder::build_index(const Expr& expr) {
  const CodeId base = build_expression(expr.c);
  const IndexRange list = build_elements(expr).list;
  const Type type = context_.type_of(base);
  Type result = Type::kAny;
  bool all = false;
  for (std::uint32_t i = 0; i < list.count; ++i) {
    const CodeNode& element = context_.data.code[context_.data.lists[list.begin + i]];
    const Type found = element.type;
    if (element.op == Op::kAll) {
      all = true;
      if (is_pair_like(type)) context_.report(DiagId::kStrayStar, element.range, {});
      continue;
    }
    // A single tuple is the whole index of a machine.
    const bool whole = type != Type::kTuple && list.count == 1 && is_pair_like(found);
    if (element.op != Op::kSplice && context_.data.code[base].op != Op::kBroken &&
        !is_unknown_type(found) && found != Type::kInt && !whole) {
      context_.report_type_mismatch(element.range, "an index", "an integer", found);
    }
  }
  if (type == Type::kMachine) {
    result = all ? Type::kProcessors : Type::kProcessor;
  } else if (is_pair_like(type)) {
    if (list.count != 1 && !has_splice(list)) {
      context_.report(
          DiagId::kWrongIndexCount, {expr.focus_offset, expr.range.end},
          {fmt::format("{} indices", list.count), std::string("a tuple, which takes one")});
    }
  } else if (!is_unknown_type(type)) {
    context_.report_type_mismatch(context_.range_of(base), "an index",
                                  "a machine or a tuple before it", type);
  }
  CodeNode code;
  code.op = Op::kIndex;
  code.type = result;
  code.range = expr.range;
  code.focus = {expr.focus_offset, expr.range.end};
  code.a = list.begin, code.b = list.count, code.c = base;
  return context_.add_code(code);
}

// Builds a slice of a tuple or a machine. A missing end becomes kNoCode. A literal 0 as the second
// end is reported because the original language takes it for the tuple's end (difference D3 in
// docs/language.md).
CodeId ExpressionBuilder::build_slice(const Expr& expr) {
  const CodeId base = build_expression(expr.c);
  const Type type = context_.type_of(base);
  if (!is_unknown_type(type) && !is_pair_like(type) && type != Type::kMachine) {
    context_.report_type_mismatch(context_.range_of(base), "a slice",
                                  "a tuple or a machine before it", type);
  }
  CodeId ends[2] = {kNoCode, kNoCode};
  for (int i = 0; i < 2; ++i) {
    const ExprId end = i == 0 ? expr.a : expr.b;
    if (end == kNoExpr) continue;
    ends[i] = build_expression(end);
    if (!context_.may_have_type(ends[i], Type::kInt)) {
      context_.report_type_mismatch(context_.range_of(ends[i]), "the end of a slice", "an integer",
                                    context_.type_of(ends[i]));
    }
  }
  // The original language also accepts an end of 0, as in `t[1:0]`, but with another result.
  if (expr.b != kNoExpr) {
    const Expr& end = context_.expr_of(context_.without_parentheses(expr.b));
    if (end.kind == ExprKind::kInt && end.value() == 0) {
      context_.report(DiagId::kSliceEndZero, end.range, {})
          .note("the original takes 0 for the tuple's end (D3)")
          .help("leave the 0 out for all up to the end");
    }
  }
  return context_.make_code(Op::kSlice, Type::kTuple, expr.range, ends[0], ends[1], base);
}

}  // namespace groma::program
