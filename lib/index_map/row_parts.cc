// Splits an expression over the points of a row into two summands: one that soon repeats along the
// row, and one that changes slowly. The values of a row are then made by copying the first summand
// and adding the second to many points at once.
#include <numeric>

#include "index_map/specialised_map.h"

namespace groma::mapper {
namespace {

using Op = Expression::Op;

// The largest period of the fast part, in points. One period is computed and then copied, and a
// longer period gains nothing.
constexpr std::int64_t kMaxFastPeriod = 64;

// Returns the period of a remainder along the dimension. The dividend is a weighted sum of
// coordinates, or a quotient of such a sum. A quotient of a remainder has the period of the
// remainder. Returns 0 for any other expression.
std::int64_t cycle_of(const ExpressionGraph& expressions, ExprId id, int dimension) {
  const Expression& expression = expressions[id];
  if (expression.op == Op::kDivideBy) return cycle_of(expressions, expression.a, dimension);
  if (expression.op != Op::kModuloBy) return 0;
  // (sum / a) % b repeats when the sum has moved by a multiple of a * b.
  const auto fraction = expressions.as_fraction(expression.a);
  const LinearSum sum = fraction ? fraction->numerator : expressions.as_linear_sum(expression.a);
  std::int64_t divisor = 0;
  if (__builtin_mul_overflow(fraction ? fraction->denominator : 1, expression.constant, &divisor)) {
    return 0;
  }
  std::int64_t factor = 0;
  for (const SumTerm& term : sum.terms) {
    const Expression& coordinate = expressions[term.of];
    if ((coordinate.dimensions >> dimension & 1) == 0) continue;
    if (coordinate.op != Op::kCoordinate) return 0;
    factor += term.factor;
  }
  return divisor / std::gcd(factor, divisor);
}

}  // namespace

// Puts each term whose cycle is short into the fast part and the others into the slow part. Returns
// nothing unless both parts depend on the last coordinate.
std::optional<FastAndSlowParts> fast_and_slow_parts_of(ExpressionGraph& expressions, ExprId id,
                                                       int dimensions, const Machine* machine) {
  const int inner = dimensions - 1;
  const LinearSum whole = expressions.as_linear_sum(id);
  LinearSum fast, slow;
  slow.constant = whole.constant;
  FastAndSlowParts parts;
  parts.period = 1;
  // True if the slow part, too, depends on the coordinate of the last dimension.
  bool both = false;
  for (const SumTerm& term : whole.terms) {
    const Expression& of = expressions[term.of];
    const bool depends = (of.dimensions >> inner & 1) != 0;
    const std::int64_t cycle = depends ? cycle_of(expressions, term.of, inner) : 0;
    if (cycle > 0 && cycle <= kMaxFastPeriod && std::lcm(cycle, parts.period) <= kMaxFastPeriod) {
      parts.period = std::lcm(cycle, parts.period);
      fast.terms.push_back(term);
    } else {
      slow.terms.push_back(term);
      both = both || depends;
    }
  }
  if (fast.terms.empty() || !both) return std::nullopt;
  const ExprId roots[] = {expressions.make_sum(fast), expressions.make_sum(slow)};
  if (roots[0] == kNoExpr || roots[1] == kNoExpr || expressions.is_full()) return std::nullopt;
  parts.fast = ExpressionKernel(expressions, {&roots[0], 1}, dimensions, machine);
  parts.slow = ExpressionKernel(expressions, {&roots[1], 1}, dimensions, machine);
  return parts;
}

}  // namespace groma::mapper
