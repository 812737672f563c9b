// Arithmetic and comparisons of values. For tuples, both work item by item.
#include "evaluate/operators.h"

#include <fmt/format.h>

namespace groma::mapper {

using program::Op;
using program::Type;

namespace {

// Returns a tuple for a message: "(1, 2)", or its length if it is long.
std::string tuple_text(const ProgramValue& tuple, std::size_t length) {
  // The longest text of a tuple in a message, in bytes.
  constexpr std::int64_t kLongest = 100;
  return printed_bytes(tuple) > kLongest ? fmt::format("one of {} items", length)
                                         : to_string(tuple, "the task");
}

// Returns the operator as the language writes it. The list is in the order of program::Op.
std::string_view sign_of(Op op) {
  constexpr std::string_view kSigns[] = {
      "-", "!", "+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">=", "&&", "||"};
  return kSigns[static_cast<std::size_t>(op) - static_cast<std::size_t>(Op::kNegate)];
}

// Applies an operator to two integers. An overflow or a division by zero fails. Division rounds
// toward zero, as in C++.
ProgramValue integer_op(Evaluation& run, const OperatorUse& op, std::int64_t left,
                        std::int64_t right) {
  std::int64_t result = 0;
  bool overflow = false;
  switch (op.op) {
    case Op::kAdd:
      overflow = __builtin_add_overflow(left, right, &result);
      break;
    case Op::kNegate:
    case Op::kSubtract:
      overflow = __builtin_sub_overflow(left, right, &result);
      break;
    case Op::kMultiply:
      overflow = __builtin_mul_overflow(left, right, &result);
      break;
    default:
      if (right == 0) {
        run.fail_with(DiagId::kDivisionByZero, op.sign, {left, std::string(sign_of(op.op))});
        return {};
      }
      overflow = left == INT64_MIN && right == -1;
      if (!overflow) result = op.op == Op::kDivide ? left / right : left % right;
  }
  if (!overflow) return {result};
  const std::string shown = op.op == Op::kNegate
                                ? fmt::format("-({})", right)
                                : fmt::format("{} {} {}", left, sign_of(op.op), right);
  run.fail_with(DiagId::kOverflow, op.sign, {shown})
      .note("the original wraps around at 32 bits (D2)");
  return {};
}

// Applies an operator to two integers, to the items of two tuples of one length, or to an integer
// and each item of a tuple. Nested tuples are treated by recursion. Negation is 0 - x.
ProgramValue arithmetic(Evaluation& run, const OperatorUse& op, const ProgramValue& left,
                        const ProgramValue& right) {
  const auto* a = left.get<std::int64_t>();
  const auto* b = right.get<std::int64_t>();
  if (a != nullptr && b != nullptr) return integer_op(run, op, *a, *b);
  const auto left_values = tuple_values(left);
  const auto right_values = tuple_values(right);
  const std::string sign = fmt::format("`{}`", sign_of(op.op));
  if (a == nullptr && !left_values) {
    return run.fail_with_type(op.left, sign, "integers or tuples", left);
  }
  if (b == nullptr && !right_values) {
    return run.fail_with_type(op.right, sign, "integers or tuples", right);
  }
  if (left_values && right_values && left_values->size() != right_values->size()) {
    run.fail_with(DiagId::kLengthMismatch, op.sign,
                  {std::string(sign_of(op.op)), tuple_text(left, left_values->size()),
                   tuple_text(right, right_values->size())});
    return {};
  }
  const std::size_t length = left_values ? left_values->size() : right_values->size();
  if (!run.count_steps(static_cast<std::int64_t>(length), op.range)) return {};
  // Each item of the resulting tuple costs an evaluation step.
  std::vector<ProgramValue> made;
  for (std::size_t i = 0; i < length && !run.failed(); ++i) {
    made.push_back(arithmetic(run, op, left_values ? (*left_values)[i] : left,
                              right_values ? (*right_values)[i] : right));
  }
  return make_tuple(run, std::move(made), op.range);
}

// Compares two values of one type. A processor is equal to the pair of its node and index. All
// items of two tuples are compared, so that a wrong type is found even after a difference.
bool equal(Evaluation& run, const OperatorUse& op, const ProgramValue& left,
           const ProgramValue& right) {
  const auto left_values = tuple_values(left);
  const auto right_values = tuple_values(right);
  const auto* left_processor = left.get<Processor>();
  const auto* right_processor = right.get<Processor>();
  if (left_processor != nullptr && right_processor != nullptr) {
    return *left_processor == *right_processor;
  }
  if (left_values && right_values) {
    if (left_values->size() != right_values->size()) {
      run.fail_with(DiagId::kLengthMismatch, op.sign,
                    {std::string(sign_of(op.op)), tuple_text(left, left_values->size()),
                     tuple_text(right, right_values->size())});
      return false;
    }
    if (!run.count_steps(static_cast<std::int64_t>(left_values->size()), op.range)) return false;
    bool same = true;
    for (std::size_t i = 0; i < left_values->size() && !run.failed(); ++i) {
      same = equal(run, op, (*left_values)[i], (*right_values)[i]) && same;
    }
    return same;
  }
  // The two values are neither two processors nor two tuples, so they must have the same type.
  // Machines, tasks and sets of processors cannot be compared.
  const Type a = type_of(left), b = type_of(right);
  const bool comparable = a == Type::kInt || a == Type::kBool || a == Type::kString ||
                          a == Type::kProcKind || a == Type::kMemKind;
  if (a != b || !comparable) {
    run.fail_with(DiagId::kTypeMismatch, op.sign,
                  {fmt::format("`{}`", sign_of(op.op)), std::string("two values of one type"),
                   fmt::format("{} and {}", describe_type(a), describe_type(b))});
    return false;
  }
  // The comparison of two strings costs evaluation steps, in proportion to their length.
  if (a == Type::kString) {
    if (!run.count_steps(printed_bytes(left) / 256, op.range)) return false;
    return **left.get<std::shared_ptr<const std::string>>() ==
           **right.get<std::shared_ptr<const std::string>>();
  }
  if (a == Type::kInt) return *left.get<std::int64_t>() == *right.get<std::int64_t>();
  if (a == Type::kBool) return *left.get<bool>() == *right.get<bool>();
  if (a == Type::kProcKind) return *left.get<ProcKind>() == *right.get<ProcKind>();
  return *left.get<MemKind>() == *right.get<MemKind>();
}

// Compares two values for equality, or two integers for order. Values of other types have no order.
ProgramValue compare(Evaluation& run, const OperatorUse& op, const ProgramValue& left,
                     const ProgramValue& right) {
  if (op.op == Op::kEqual || op.op == Op::kNotEqual) {
    const bool same = equal(run, op, left, right);
    return {same == (op.op == Op::kEqual)};
  }
  const auto* a = left.get<std::int64_t>();
  const auto* b = right.get<std::int64_t>();
  if (a == nullptr || b == nullptr) {
    return run.fail_with_type(a == nullptr ? op.left : op.right,
                              fmt::format("`{}`", sign_of(op.op)), "integers",
                              a == nullptr ? left : right);
  }
  switch (op.op) {
    case Op::kLess:
      return {*a < *b};
    case Op::kLessEqual:
      return {*a <= *b};
    case Op::kGreater:
      return {*a > *b};
    default:
      return {*a >= *b};
  }
}

}  // namespace

// Applies an arithmetic or comparing operator to two values. Op::kNegate and the operators from
// Op::kAdd to Op::kModulo are the arithmetic ones.
ProgramValue apply_operator(Evaluation& run, const OperatorUse& op, const ProgramValue& left,
                            const ProgramValue& right) {
  const bool is_arithmetic = op.op == Op::kNegate || (op.op >= Op::kAdd && op.op <= Op::kModulo);
  return is_arithmetic ? arithmetic(run, op, left, right) : compare(run, op, left, right);
}

}  // namespace groma::mapper
