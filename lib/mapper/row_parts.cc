// Telling what repeats at once along a row from what does not.
#include <numeric>

#include "mapper/specialised_map.h"

namespace groma::mapper {
namespace {

// A part that is repeated is written once, then copied; a longer one gains nothing.
constexpr std::int64_t kMaxFastPeriod = 64;

// The period, in the dimension, of an expression that is a remainder of a multiple of its
// coordinate: the usual cycle. 0: something else.
std::int64_t cycle_of(const Expressions& expressions, const Expression& expression, int dimension) {
  using Op = Expression::Op;
  if (expression.op == Op::kDivideBy) {
    return cycle_of(expressions, expressions[expression.a], dimension);
  }
  if (expression.op != Op::kModuloBy) return 0;
  std::int64_t factor = 0;
  const Expression& of = expressions[expression.a];
  if (of.op == Op::kDivideBy) {
    // (x / a) % b repeats after a * b.
    const Expression& inner = expressions[of.a];
    std::int64_t cycle = 0;
    const bool plain = inner.op == Op::kCoordinate &&
                       !__builtin_mul_overflow(of.constant, expression.constant, &cycle);
    return plain ? cycle : 0;
  }
  for (const Term& term : expressions.linear(expression.a).terms) {
    const Expression& coordinate = expressions[term.of];
    if ((coordinate.dimensions >> dimension & 1) == 0) continue;
    if (coordinate.op != Op::kCoordinate) return 0;
    factor = term.factor;
  }
  return expression.constant / std::gcd(factor, expression.constant);
}

}  // namespace

std::optional<RowParts> row_parts_of(Expressions& expressions, ExprId id, int dimensions,
                                     const Machine* machine) {
  const int inner = dimensions - 1;
  const Linear whole = expressions.linear(id);
  Linear fast, slow;
  slow.constant = whole.constant;
  RowParts parts;
  parts.period = 1;
  bool both = false;  // the slow part depends on the inner coordinate too
  for (const Term& term : whole.terms) {
    const Expression& of = expressions[term.of];
    const bool depends = (of.dimensions >> inner & 1) != 0;
    const std::int64_t cycle = depends ? cycle_of(expressions, of, inner) : 0;
    if (cycle > 0 && cycle <= kMaxFastPeriod && std::lcm(cycle, parts.period) <= kMaxFastPeriod) {
      parts.period = std::lcm(cycle, parts.period);
      fast.terms.push_back(term);
    } else {
      slow.terms.push_back(term);
      both = both || depends;
    }
  }
  if (fast.terms.empty() || !both) return std::nullopt;
  const ExprId roots[] = {expressions.sum(fast), expressions.sum(slow)};
  if (roots[0] == kNoExpr || roots[1] == kNoExpr || expressions.full()) return std::nullopt;
  parts.fast = Kernel(expressions, {&roots[0], 1}, dimensions, machine);
  parts.slow = Kernel(expressions, {&roots[1], 1}, dimensions, machine);
  return parts;
}

}  // namespace groma::mapper
