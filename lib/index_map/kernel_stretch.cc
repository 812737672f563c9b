// Evaluates a kernel for a run of points along one dimension. Within a run, every register changes
// linearly from point to point. The run ends where the first register does not. This file also
// finds the periods of registers.
#include <algorithm>
#include <numeric>

#include "index_map/kernel.h"

namespace groma::mapper {
namespace {

// The length of a run of points that continues to the end of its row.
constexpr std::int64_t kForever = INT64_MAX;

// Returns a / b, rounded up.
std::int64_t up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// Returns how many steps by `slope` a value needs to rise by `distance`.
std::int64_t steps_to(std::int64_t distance, std::int64_t slope) {
  return slope == 1 ? distance : up(distance, slope);
}

// Returns for how many points the truth of `value < 0` stays as it is, if `value` changes by
// `slope` from point to point.
std::int64_t sign_lasts(std::int64_t value, std::int64_t slope) {
  if (value < 0) return slope <= 0 ? kForever : up(-value, slope);
  return slope >= 0 ? kForever : value / -slope + 1;
}

}  // namespace

// Follows the instructions of one dimension. Returns for how many points the values of all of them
// change linearly.
std::int64_t ExpressionKernel::evaluate_run(int dimension, std::int64_t most,
                                            KernelRegisters& registers) const {
  registers.slope[static_cast<std::size_t>(dimension)] = 1;
  std::int64_t length = most;
  const auto from = begin_[static_cast<std::size_t>(dimension)];
  const auto to = begin_[static_cast<std::size_t>(dimension) + 1];
  for (std::uint32_t i = from; i < to; ++i) compute_run(code_[i], registers, &length);
  return length;
}

// Computes the value and the slope of one instruction. Lowers `*length` to the number of points for
// which they hold.
void ExpressionKernel::compute_run(const KernelInstruction& each, KernelRegisters& registers,
                                   std::int64_t* length) const {
  LinearRun line;
  const std::int64_t* slope = registers.slope.data();
  const std::int64_t* value = registers.value.data();
  if (each.may_overflow) {
    line = {compute_value(each, value), 0, 1};
  } else {
    switch (each.op) {
      case Op::kSum:
        line = run_of_sum(each, registers);
        break;
      case Op::kDivideBy:
      case Op::kModuloBy:
      case Op::kDivide:
      case Op::kModulo:
        line = run_of_division(each, registers);
        break;
      case Op::kAdd:
        line = {compute_value(each, value),
                to_signed(to_unsigned(slope[each.a]) + to_unsigned(slope[each.b])), kForever};
        break;
      case Op::kSubtract:
        line = {compute_value(each, value),
                to_signed(to_unsigned(slope[each.a]) - to_unsigned(slope[each.b])), kForever};
        break;
      case Op::kMultiply: {
        const std::uint64_t bend = to_unsigned(slope[each.a]) * to_unsigned(value[each.b]) +
                                   to_unsigned(value[each.a]) * to_unsigned(slope[each.b]);
        const bool straight = slope[each.a] == 0 || slope[each.b] == 0;
        line = {compute_value(each, value), straight ? to_signed(bend) : 0,
                straight ? kForever : 1};
        break;
      }
      case Op::kEqual:
      case Op::kLess:
      case Op::kLessEqual:
        line = run_of_comparison(each, registers);
        break;
      case Op::kSelect: {
        const Register chosen = value[each.a] != 0 ? each.b : each.c;
        line = {value[chosen], slope[chosen], kForever};
        break;
      }
      case Op::kAnd:
      case Op::kOr:
      case Op::kNot:
        line = {compute_value(each, value), 0, kForever};
        break;
      default: {
        const bool still =
            slope[each.a] == 0 && (each.op == Op::kAddressable || slope[each.b] == 0);
        line = {compute_value(each, value), 0, still ? kForever : 1};
      }
    }
  }
  // With a steeper slope, the value of the second point would exceed kSumValueLimit, so the run
  // consists of one point.
  if (line.slope > 2 * kSumValueLimit || line.slope < -2 * kSumValueLimit)
    line.slope = 0, line.length = 1;
  registers.value[each.to] = line.value;
  registers.slope[each.to] = line.slope;
  *length = std::min(*length, line.length);
}

// Returns the value and slope of a sum. A sum is linear as long as its terms are.
ExpressionKernel::LinearRun ExpressionKernel::run_of_sum(const KernelInstruction& each,
                                                         const KernelRegisters& registers) const {
  std::uint64_t value = to_unsigned(each.constant), slope = 0;
  const RegisterTerm* term = &terms_[each.a];
  for (Register i = 0; i < each.b; ++i) {
    value += to_unsigned(term[i].factor) * to_unsigned(registers.value[term[i].of]);
    slope += to_unsigned(term[i].factor) * to_unsigned(registers.slope[term[i].of]);
  }
  return {to_signed(value), to_signed(slope), kForever};
}

// Returns the value and slope of a quotient or a remainder. They hold until the dividend reaches
// the next multiple of the divisor. If the slope is a multiple of the divisor, they always hold.
ExpressionKernel::LinearRun ExpressionKernel::run_of_division(
    const KernelInstruction& each, const KernelRegisters& registers) const {
  const bool by_constant = each.op == Op::kDivideBy || each.op == Op::kModuloBy;
  const bool quotient = each.op == Op::kDivideBy || each.op == Op::kDivide;
  const std::int64_t a = registers.value[each.a], slope = registers.slope[each.a];
  const std::int64_t divisor = by_constant ? each.constant : registers.value[each.b];
  const std::int64_t result = compute_value(each, registers.value.data());
  if (slope == 0 && (by_constant || registers.slope[each.b] == 0)) return {result, 0, kForever};
  if (!by_constant && (registers.slope[each.b] != 0 || a < 0 || divisor <= 0))
    return {result, 0, 1};
  const std::int64_t rest = quotient ? a - result * divisor : result;
  const bool multiple = (slope >= divisor || slope <= -divisor) && slope % divisor == 0;
  std::int64_t length = kForever;
  if (!multiple) {
    length = slope > 0 ? steps_to(divisor - rest, slope) : steps_to(rest + 1, -slope);
  }
  // If the divisor is not a constant, the dividend may become negative. Truncation then differs.
  if (!by_constant && slope < 0) length = std::min(length, a / -slope + 1);
  if (quotient) return {result, multiple ? slope / divisor : 0, length};
  return {result, multiple ? 0 : slope, length};
}

// Returns the value of a comparison. It holds until one side reaches the other.
ExpressionKernel::LinearRun ExpressionKernel::run_of_comparison(
    const KernelInstruction& each, const KernelRegisters& registers) const {
  const std::int64_t result = compute_value(each, registers.value.data());
  const std::int64_t distance = registers.value[each.a] - registers.value[each.b];
  const std::int64_t slope = registers.slope[each.a] - registers.slope[each.b];
  if (slope == 0) return {result, 0, kForever};
  if (each.op == Op::kLess) return {result, 0, sign_lasts(distance, slope)};
  if (each.op == Op::kLessEqual) return {result, 0, sign_lasts(distance - 1, slope)};
  if (distance == 0) return {result, 0, 1};
  // If the two sides approach each other, they cannot become equal before this many points.
  const std::int64_t away = distance > 0 ? distance : -distance;
  const std::int64_t closing = distance > 0 ? -slope : slope;
  return {result, 0, closing <= 0 ? kForever : up(away, closing)};
}

// --------------------------------------------------------------------------------------- periods

namespace {

// Returns the least common multiple, or 0 if it is too large or if one number is 0.
std::int64_t common_multiple(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (a == 0 || b == 0 || __builtin_mul_overflow(a / std::gcd(a, b), b, &product)) return 0;
  return product <= kSumValueLimit ? product : 0;
}

// Returns the period that consists of `times` periods of `known`, or no period if a number
// overflows.
ValuePeriod repeated(const ValuePeriod& known, std::int64_t times) {
  ValuePeriod result;
  if (__builtin_mul_overflow(known.period, times, &result.period) ||
      __builtin_mul_overflow(known.drift, times, &result.drift)) {
    return {};
  }
  return result;
}

// Returns `known` as a period of the given length, which is a multiple of its own.
ValuePeriod stretched(const ValuePeriod& known, std::int64_t period) {
  return known.period == 0 || period == 0 ? ValuePeriod{} : repeated(known, period / known.period);
}

}  // namespace

// Returns the period of one instruction from the periods of its operands, or no period if none is
// known.
ValuePeriod ExpressionKernel::period_of_instruction(const KernelInstruction& each,
                                                    const std::vector<ValuePeriod>& known) const {
  // together(left, right) sets `a` and `b` to the periods of two operands, extended to one common
  // length. It returns false if there is no such period.
  ValuePeriod a, b;
  std::int64_t period = 1, drift = 0;
  const auto together = [&](Register left, Register right) {
    period = common_multiple(known[left].period, known[right].period);
    a = stretched(known[left], period), b = stretched(known[right], period);
    return a.period != 0 && b.period != 0;
  };
  switch (each.op) {
    case Op::kSum:
      for (Register i = 0; i < each.b; ++i) {
        period = common_multiple(period, known[terms_[each.a + std::size_t{i}].of].period);
      }
      for (Register i = 0; i < each.b && period != 0; ++i) {
        const RegisterTerm& term = terms_[each.a + std::size_t{i}];
        std::int64_t moved = 0;
        const ValuePeriod own = stretched(known[term.of], period);
        if (own.period == 0 || __builtin_mul_overflow(own.drift, term.factor, &moved) ||
            __builtin_add_overflow(drift, moved, &drift)) {
          return {};
        }
      }
      return {period, drift};
    case Op::kDivideBy:
    case Op::kModuloBy: {
      // Finds the period in which the dividend, which is never negative, moves by a multiple of the
      // divisor. The remainder then repeats.
      const ValuePeriod& of = known[each.a];
      if (of.period == 0) return {};
      const ValuePeriod whole =
          repeated(of, of.drift == 0 ? 1 : each.constant / std::gcd(of.drift, each.constant));
      if (whole.period == 0) return {};
      return {whole.period, each.op == Op::kDivideBy ? whole.drift / each.constant : 0};
    }
    case Op::kEqual:
    case Op::kLess:
    case Op::kLessEqual:
      return together(each.a, each.b) && a.drift == b.drift ? ValuePeriod{period, 0}
                                                            : ValuePeriod{};
    case Op::kNot:
    case Op::kAddressable:
      return known[each.a].drift == 0 ? known[each.a] : ValuePeriod{};
    case Op::kSelect: {
      if (!together(each.b, each.c) || a.drift != b.drift || known[each.a].drift != 0) return {};
      const std::int64_t all = common_multiple(period, known[each.a].period);
      return stretched({period, a.drift}, all);
    }
    default:
      return together(each.a, each.b) && a.drift == 0 && b.drift == 0 ? ValuePeriod{period, 0}
                                                                      : ValuePeriod{};
  }
}

// Returns the period along one dimension of a root, which is one of the expressions that the kernel
// computes. A root that does not depend on the dimension has the period 1.
ValuePeriod ExpressionKernel::period_of_root(std::size_t root, int dimension) const {
  std::vector<ValuePeriod> known(initial_.size(), ValuePeriod{1, 0});
  known[static_cast<std::size_t>(dimension)] = {1, 1};
  for (std::uint32_t i = begin_[0]; i < code_.size(); ++i) {
    const bool depends = (code_[i].dimensions >> dimension & 1) != 0;
    if (depends) known[code_[i].to] = period_of_instruction(code_[i], known);
  }
  return known[roots_[root]];
}

}  // namespace groma::mapper
