// Translates operators to C++ with the parentheses that C++ needs, and checks the types of their
// operands.
#include "emit/operators.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace groma::emitting {

using program::Op;
using program::Type;

namespace {

// Returns the operator's C++ text. The list is in the order of program::Op.
std::string_view sign_of(Op op) {
  constexpr std::string_view kSigns[] = {
      "-", "!", "+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">=", "&&", "||"};
  return kSigns[static_cast<std::size_t>(op) - static_cast<std::size_t>(Op::kNegate)];
}

// Returns the precedence of a binary operator. Higher numbers bind tighter.
int precedence_of(Op op) {
  switch (op) {
    case Op::kOr:
      return 2;
    case Op::kAnd:
      return 3;
    case Op::kEqual:
    case Op::kNotEqual:
      return 4;
    case Op::kAdd:
    case Op::kSubtract:
      return 6;
    case Op::kMultiply:
    case Op::kDivide:
    case Op::kModulo:
      return 7;
    default:
      return 5;
  }
}

// Returns the feature (optional block of the emitted text) that has the operator for tuples.
std::string_view feature_of(Op op) {
  constexpr std::string_view kFeatures[] = {"add", "subtract", "multiply", "divide", "modulo"};
  return kFeatures[static_cast<std::size_t>(op) - static_cast<std::size_t>(Op::kAdd)];
}

// Returns the C++ for an operator on two integers or tuples. A tuple is treated item by item, a
// processor as its pair of indices. For two literals, one becomes an `Int`, so that C++ computes
// with the emitted type and its checks.
CppExpr arithmetic(EmissionOutput& emission, Op op, Range range, const CppExpr& left,
                   const CppExpr& right) {
  const int precedence = precedence_of(op);
  const std::string_view sign = sign_of(op);
  const auto text = [&](const CppExpr& a, const CppExpr& b) {
    const std::string first =
        a.literal && b.literal ? integer_text(a) : operand_text(a, precedence);
    return fmt::format("{} {} {}", first, sign, operand_text(b, precedence + 1));
  };
  if (left.type == kInt && right.type == kInt) return {text(left, right), kInt, precedence};
  const auto a = left.type == kInt ? std::optional(left) : as_tuple(left);
  const auto b = right.type == kInt ? std::optional(right) : as_tuple(right);
  for (const auto& [side, expr] : {std::pair(&a, &left), std::pair(&b, &right)}) {
    if (*side && (*side)->type.type == Type::kInt) continue;
    if (*side && (*side)->type.type == Type::kProcessor) {
      return emission.report_no_cpp(range, fmt::format("`{}` of tuples of processors", sign),
                                    "take the processors apart first: `p[0]`, `p[1]`");
    }
    return type_mismatch_expr(fmt::format("`{}`", sign), "integers or tuples", *expr);
  }
  emission.features.insert(std::string(feature_of(op)));
  return {text(*a, *b), {Type::kInt, std::max(a->type.depth, b->type.depth)}, precedence};
}

// Returns the C++ for a comparison: of the order of two integers, or of two values of one type for
// equality. A processor and a tuple are compared as tuples.
CppExpr compare(EmissionOutput& emission, Op op, Range range, const CppExpr& left,
                const CppExpr& right) {
  const std::string sign = fmt::format("`{}`", sign_of(op));
  const auto made = [&](const CppExpr& a, const CppExpr& b) {
    // A comparison within another gets parentheses, so that compilers do not warn.
    const std::string first = a.literal && b.literal ? integer_text(a) : operand_text(a, 6);
    return CppExpr{fmt::format("{} {} {}", first, sign_of(op), operand_text(b, 6)), kBool,
                   precedence_of(op)};
  };
  if (op != Op::kEqual && op != Op::kNotEqual) {
    if (left.type != kInt) return type_mismatch_expr(sign, "integers", left);
    if (right.type != kInt) return type_mismatch_expr(sign, "integers", right);
    return made(left, right);
  }
  const bool processors =
      left.type.is_type(Type::kProcessor) && right.type.is_type(Type::kProcessor);
  const auto a = as_tuple(left), b = as_tuple(right);
  if (a && b && !processors) {
    if (a->type == b->type) return made(*a, *b);
    return emission.report_no_cpp(
        range, fmt::format("{} of {} and {}", sign, a->type.type_text(), b->type.type_text()),
        "compare their items");
  }
  constexpr std::array kComparable = {Type::kInt, Type::kBool, Type::kString, Type::kProcKind,
                                      Type::kMemKind};
  const bool comparable =
      processors || (left.type.depth == 0 && std::find(kComparable.begin(), kComparable.end(),
                                                       left.type.type) != kComparable.end());
  if (left.type == right.type && comparable) return made(left, right);
  return failing_expr(fmt::format("{} needs two values of one type, not {} and {} [type-mismatch]",
                                  sign, left.type.type_text(), right.type.type_text()));
}

// Returns nothing if the expression is a bool, otherwise an expression that fails. `what` names the
// role of the expression in the message.
std::optional<CppExpr> failure_of_bool(const CppExpr& expr, const std::string& what) {
  if (expr.type.can_only_fail()) return expr;
  if (expr.type.is_type(Type::kBool)) return std::nullopt;
  return type_mismatch_expr(what, "a bool", expr);
}

}  // namespace

// Returns the C++ for `-value`. For a tuple it is `Int(0) - t`. A literal that is negative already
// becomes an `Int`, because a second sign before it would make `--`.
CppExpr negate_expr(EmissionOutput& emission, const CppExpr& value) {
  if (value.type.can_only_fail()) return value;
  if (value.type == kInt) {
    const bool nested = value.literal && value.text.front() == '-';
    CppExpr made{"-" + (nested ? integer_text(value) : operand_text(value, 9)), kInt, 8};
    made.literal = value.literal && !nested;
    return made;
  }
  const auto tuple = as_tuple(value);
  if (!tuple || tuple->type.type != Type::kInt) {
    return type_mismatch_expr("`-`", "an integer or a tuple", value);
  }
  emission.features.insert("subtract");
  return {"Int(0) - " + operand_text(*tuple, 7), tuple->type, 6};
}

// Returns the C++ for `!value`. An operand that is not a bool makes the expression fail.
CppExpr logical_not_expr(const CppExpr& value) {
  if (const auto failure = failure_of_bool(value, "`!`")) return *failure;
  return {"!" + operand_text(value, 8), kBool, 8};
}

// Returns the C++ for a binary operator. Arithmetic operators come before comparisons in
// program::Op.
CppExpr binary_expr(EmissionOutput& emission, Op op, Range range, const CppExpr& left,
                    const CppExpr& right) {
  if (left.type.can_only_fail()) return left;
  if (right.type.can_only_fail()) return right;
  return op <= Op::kModulo ? arithmetic(emission, op, range, left, right)
                           : compare(emission, op, range, left, right);
}

std::optional<CppExpr> failure_of_left_operand(Op op, const CppExpr& left) {
  return failure_of_bool(left, fmt::format("`{}`", sign_of(op)));
}

std::optional<CppExpr> failure_of_condition(const CppExpr& condition) {
  return failure_of_bool(condition, "the condition of `?:`");
}

// Returns the C++ for `&&` or `||`. A right side that is not a bool fails when it is evaluated,
// which happens only if the left side does not decide.
CppExpr logical_expr(Op op, const CppExpr& left, const CppExpr& right) {
  if (!right.type.can_only_fail() && !right.type.is_type(Type::kBool)) {
    return logical_expr(op, left,
                        type_mismatch_expr(fmt::format("`{}`", sign_of(op)), "a bool", right));
  }
  const int precedence = precedence_of(op);
  // `a && b || c` gets parentheses, so that compilers do not warn.
  const int least = op == Op::kOr ? 4 : 3;
  const auto side = [&](const CppExpr& expr) {
    if (expr.type.can_only_fail()) return with_exact_type(expr, kBool);
    return expr.precedence == precedence ? expr.text : operand_text(expr, least);
  };
  return {fmt::format("{} {} {}", side(left), sign_of(op), side(right)), kBool, precedence};
}

// Returns the C++ for `condition ? yes : no`. Both sides need one type, because an expression in
// C++ has one. A side that can only fail gets the type of the other.
CppExpr conditional_expr(EmissionOutput& emission, Range range, const CppExpr& condition,
                         const CppExpr& yes, const CppExpr& no) {
  if (yes.type.can_only_fail() && no.type.can_only_fail()) return yes;
  const CppValueType type = yes.type.can_only_fail() ? no.type : yes.type;
  if (!yes.type.can_only_fail() && !no.type.can_only_fail() && yes.type != no.type) {
    return emission.report_no_cpp(
        range, fmt::format("`?:` with {} and {}", yes.type.type_text(), no.type.type_text()),
        "make both sides one type, or write a function for each and bind them apart");
  }
  const auto branch = [&](const CppExpr& expr) {
    return expr.precedence > 1 ? with_exact_type(expr, type)
                               : "(" + with_exact_type(expr, type) + ")";
  };
  return {fmt::format("{} ? {} : {}", operand_text(condition, 2), branch(yes), branch(no)), type,
          1};
}

}  // namespace groma::emitting
