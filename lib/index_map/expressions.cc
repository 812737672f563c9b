// Makes and simplifies expressions. Each simplification states why it is correct.
#include "index_map/expressions.h"

#include <algorithm>
#include <numeric>

namespace groma::mapper {
namespace {

__extension__ typedef __int128 Wide;
using Op = Expression::Op;

// The most pairs of terms, such as 4 * (x / 4) and x % 4, that are joined in one sum.
constexpr int kMaxJoints = 32;
// The first size of the hash table of expressions, which is always a power of two. Most maps have
// few expressions.
constexpr std::size_t kFirstTableSize = 256;

struct Interval {
  std::int64_t low, high;
};
constexpr Interval kAll = {INT64_MIN, INT64_MAX};

bool fits(Wide value) { return value >= INT64_MIN && value <= INT64_MAX; }
// Returns the interval from `low` to `high`, or the interval of all 64-bit integers if a bound does
// not fit into 64 bits.
Interval narrowed(Wide low, Wide high) {
  if (!fits(low) || !fits(high)) return kAll;
  return {static_cast<std::int64_t>(low), static_cast<std::int64_t>(high)};
}

// Return the interval of the result of an operation, or all integers if it may overflow.
Interval added(const Expression& a, const Expression& b) {
  return narrowed(Wide{a.low} + b.low, Wide{a.high} + b.high);
}
Interval subtracted(const Expression& a, const Expression& b) {
  return narrowed(Wide{a.low} - b.high, Wide{a.high} - b.low);
}
Interval multiplied(const Expression& a, const Expression& b) {
  const Wide corners[] = {Wide{a.low} * b.low, Wide{a.low} * b.high, Wide{a.high} * b.low,
                          Wide{a.high} * b.high};
  const auto [low, high] = std::minmax_element(std::begin(corners), std::end(corners));
  return narrowed(*low, *high);
}
// Returns true if an operation whose exact results lie in this interval may overflow.
bool overflows(const Interval& interval) {
  return interval.low == INT64_MIN && interval.high == INT64_MAX;
}

// Returns the interval of a / b. Whatever b is, the quotient is no further from 0 than a.
Interval divided(const Expression& a, const Expression& b) {
  if (a.low == INT64_MIN) return kAll;
  if (b.low == b.high && b.low > 0) return {a.low / b.low, a.high / b.low};
  const std::int64_t most = std::max(std::max(a.high, -a.low), std::int64_t{0});
  return {a.low >= 0 && b.low >= 0 ? 0 : -most, most};
}

// Returns the interval of a % b. It is nearer to 0 than b, no further from 0 than a, and has the
// sign of a.
Interval remainder(const Expression& a, const Expression& b) {
  Interval result = {std::min(a.low, std::int64_t{0}), std::max(a.high, std::int64_t{0})};
  if (b.low == INT64_MIN) return result;
  const std::int64_t most = std::max(std::max(b.high, -b.low) - 1, std::int64_t{0});
  return {std::max(result.low, -most), std::min(result.high, most)};
}

}  // namespace

ExpressionGraph::ExpressionGraph() : table_(kFirstTableSize) {
  expressions_.reserve(64);
  terms_.reserve(64);
}

// Returns the index in `table_` at which a search for the expression begins. Two sums with equal
// terms have equal hashes.
std::size_t ExpressionGraph::hash_of(const Expression& expression) const {
  constexpr std::uint64_t kMix = 0x9E3779B97F4A7C15;
  std::uint64_t hash = static_cast<std::uint64_t>(expression.op);
  const auto mix = [&](std::uint64_t value) { hash = (hash ^ value) * kMix, hash ^= hash >> 29; };
  mix(static_cast<std::uint64_t>(expression.constant));
  if (expression.op == Op::kSum) {
    for (const SumTerm& term : terms_of(expression)) {
      mix(static_cast<std::uint64_t>(term.factor)), mix(term.of);
    }
  } else {
    mix(std::uint64_t{expression.a} << 32 | expression.b), mix(expression.c);
  }
  return hash % table_.size();
}

// Returns true if two expressions are the same operation on the same operands.
bool ExpressionGraph::same_expression(const Expression& a, const Expression& b) const {
  if (a.op != b.op || a.constant != b.constant || a.b != b.b) return false;
  if (a.op != Op::kSum) return a.a == b.a && a.c == b.c;
  const auto left = terms_of(a), right = terms_of(b);
  return std::equal(left.begin(), left.end(), right.begin());
}

// Returns the id of the expression, which is added if it is new. Returns 0 if there are too many
// expressions.
ExprId ExpressionGraph::intern_expression(const Expression& expression) {
  std::size_t at = hash_of(expression);
  for (; table_[at] != 0; at = (at + 1) % table_.size()) {
    const ExprId known = table_[at] - 1U;
    if (!same_expression(expressions_[known], expression)) continue;
    // The terms of a sum were appended to `terms_` only for this search. If the sum exists already,
    // they are removed again.
    if (expression.op == Op::kSum) terms_.resize(expression.a);
    return known;
  }
  if (is_full()) return 0;
  const auto id = static_cast<ExprId>(expressions_.size());
  table_[at] = static_cast<std::uint16_t>(id + 1);
  expressions_.push_back(expression);
  if (2 * expressions_.size() > table_.size()) grow_table();
  return id;
}

// Doubles the table, so that at most half of it is used.
void ExpressionGraph::grow_table() {
  table_.assign(2 * table_.size(), 0);
  for (std::size_t id = 0; id < expressions_.size(); ++id) {
    std::size_t at = hash_of(expressions_[id]);
    while (table_[at] != 0) at = (at + 1) % table_.size();
    table_[at] = static_cast<std::uint16_t>(id + 1);
  }
}

ExprId ExpressionGraph::make_constant(std::int64_t value) {
  Expression made;
  made.constant = made.low = made.high = value;
  return intern_expression(made);
}

// Returns the coordinate of a dimension. In a dimension with one point it is the constant 0.
ExprId ExpressionGraph::make_coordinate(int dimension, std::int64_t extent) {
  if (extent == 1) return make_constant(0);
  Expression made;
  made.op = Op::kCoordinate;
  made.a = static_cast<ExprId>(dimension);
  made.dimensions = static_cast<std::uint16_t>(1U << dimension);
  made.high = extent - 1;
  return intern_expression(made);
}

std::optional<std::int64_t> ExpressionGraph::known_value(ExprId id) const {
  const Expression& expression = expressions_[id];
  if (expression.low != expression.high) return std::nullopt;
  return expression.low;
}

// ------------------------------------------------------------------------------------------ sums

// Returns any expression as a sum. An expression that is not a sum becomes the only term.
LinearSum ExpressionGraph::as_linear_sum(ExprId id) const {
  const Expression& expression = expressions_[id];
  if (expression.op == Op::kConstant) return {expression.constant, {}};
  if (expression.op != Op::kSum) return {0, {{1, id}}};
  const auto own = terms_of(expression);
  return {expression.constant, {own.begin(), own.end()}};
}

// Computes the interval of a sum. Returns false if a value of the sum may exceed kSumValueLimit.
bool ExpressionGraph::interval_of(const LinearSum& linear, std::int64_t* low,
                                  std::int64_t* high) const {
  // Check after each term, so that no partial sum overflows 128 bits.
  Wide least = linear.constant, most = linear.constant;
  for (const SumTerm& term : linear.terms) {
    const Expression& of = expressions_[term.of];
    const Wide a = Wide{term.factor} * of.low, b = Wide{term.factor} * of.high;
    least += std::min(a, b);
    most += std::max(a, b);
    if (!fits(least) || !fits(most)) return false;
  }
  *low = static_cast<std::int64_t>(least);
  *high = static_cast<std::int64_t>(most);
  return *low >= -kSumValueLimit && *high <= kSumValueLimit;
}

namespace {

// Adds factor * right to left, without joining terms of one expression. Returns false if a number
// would exceed kSumValueLimit.
bool accumulate(LinearSum* left, const LinearSum& right, std::int64_t factor) {
  const auto scaled = [&](std::int64_t value, std::int64_t* product) {
    return !__builtin_mul_overflow(value, factor, product) && *product >= -kSumValueLimit &&
           *product <= kSumValueLimit;
  };
  std::int64_t product = 0;
  if (!scaled(right.constant, &product) ||
      __builtin_add_overflow(left->constant, product, &left->constant)) {
    return false;
  }
  for (const SumTerm& term : right.terms) {
    if (!scaled(term.factor, &product)) return false;
    left->terms.push_back({product, term.of});
  }
  return true;
}

// Returns `whole` without the terms and the constant of `part`, or nothing if a term of `part` is
// not in `whole` with the same factor.
std::optional<LinearSum> without(LinearSum whole, const LinearSum& part) {
  for (const SumTerm& term : part.terms) {
    const auto found = std::find(whole.terms.begin(), whole.terms.end(), term);
    if (found == whole.terms.end()) return std::nullopt;
    whole.terms.erase(found);
  }
  whole.constant -= part.constant;
  return whole;
}

}  // namespace

// Looks for the first term a / n with the factor 1, and brings all other terms over the denominator
// n.
std::optional<ExpressionGraph::SumFraction> ExpressionGraph::as_fraction(ExprId id) const {
  LinearSum rest = as_linear_sum(id);
  const auto quotient =
      std::find_if(rest.terms.begin(), rest.terms.end(), [&](const SumTerm& term) {
        return term.factor == 1 && expressions_[term.of].op == Op::kDivideBy;
      });
  if (quotient == rest.terms.end()) return std::nullopt;
  const Expression division = expressions_[quotient->of];
  rest.terms.erase(quotient);
  SumFraction made;
  made.denominator = division.constant;
  if (!accumulate(&made.numerator, rest, division.constant) ||
      !accumulate(&made.numerator, as_linear_sum(division.a), 1)) {
    return std::nullopt;
  }
  return made;
}

// Returns one expression for high * n + a % n, or kNoExpr if it cannot be simplified. `remainder`
// is the expression a % n, and `quotient` is a / n. It can be simplified if `high` is a / n, as in
// the numbers of linear blocks, or if `high` is (rest + a / n) % m, as in a round robin over nodes
// and over the processors of each node.
ExprId ExpressionGraph::join_digits(ExprId high, ExprId quotient, const Expression& remainder) {
  // (a / n) * n + a % n is a.
  if (high == quotient) return remainder.a;
  // (rest + a / n) % m * n + a % n is (rest * n + a) % (n * m).
  const Expression digit = expressions_[high];
  std::int64_t divisor = 0;
  if (digit.op != Op::kModuloBy ||
      __builtin_mul_overflow(digit.constant, remainder.constant, &divisor)) {
    return kNoExpr;
  }
  const auto rest = without(as_linear_sum(digit.a), as_linear_sum(quotient));
  LinearSum number;
  if (!rest || !accumulate(&number, *rest, remainder.constant) ||
      !accumulate(&number, as_linear_sum(remainder.a), 1)) {
    return kNoExpr;
  }
  const ExprId whole = make_sum(std::move(number));
  if (whole == kNoExpr || expressions_[whole].low < 0) return kNoExpr;
  return make_modulo_by(whole, divisor);
}

// Replaces two terms that are digits of one number by this number. Returns false if there are no
// such terms. Example: 4 * (x / 4) + x % 4 becomes x.
bool ExpressionGraph::rejoin_digits(LinearSum& linear) {
  const std::vector<SumTerm>& terms = linear.terms;
  for (std::size_t low = 0; low < terms.size(); ++low) {
    const Expression remainder = expressions_[terms[low].of];
    std::int64_t factor = 0;  // The factor that the term joined with the remainder must have.
    if (remainder.op != Op::kModuloBy ||
        __builtin_mul_overflow(terms[low].factor, remainder.constant, &factor)) {
      continue;
    }
    const ExprId quotient = make_divide_by(remainder.a, remainder.constant);
    for (std::size_t high = 0; high < terms.size(); ++high) {
      if (high == low || terms[high].factor != factor) continue;
      const ExprId number = join_digits(terms[high].of, quotient, remainder);
      if (number == kNoExpr) continue;
      LinearSum whole;
      whole.constant = linear.constant;
      for (std::size_t k = 0; k < terms.size(); ++k) {
        if (k != low && k != high) whole.terms.push_back(terms[k]);
      }
      if (!accumulate(&whole, this->as_linear_sum(number), terms[low].factor)) continue;
      linear = std::move(whole);
      return true;
    }
  }
  return false;
}

// Simplifies a sum: terms of one expression are added up, terms with the factor 0 are dropped, and
// digits of one number are joined.
ExprId ExpressionGraph::make_sum(LinearSum linear) {
  auto& terms = linear.terms;
  const auto tidy = [&] {
    std::sort(terms.begin(), terms.end(),
              [](const SumTerm& a, const SumTerm& b) { return a.of < b.of; });
    std::size_t kept = 0;
    for (std::size_t i = 0; i < terms.size(); ++i) {
      if (kept > 0 && terms[kept - 1].of == terms[i].of) {
        terms[kept - 1].factor += terms[i].factor;
      } else {
        terms[kept++] = terms[i];
      }
      if (terms[kept - 1].factor == 0) --kept;
    }
    terms.resize(kept);
  };
  tidy();
  Expression made;
  if (!interval_of(linear, &made.low, &made.high)) return kNoExpr;
  // Pairs of terms that can be joined, such as 4 * (x / 4) and x % 4, are joined one pair at a
  // time.
  for (int i = 0; i < kMaxJoints && rejoin_digits(linear); ++i) {
    tidy();
    // The interval of the sum may be narrower after two of its terms were joined.
    if (!interval_of(linear, &made.low, &made.high)) return kNoExpr;
  }
  if (made.low == made.high) return make_constant(made.low);
  if (linear.constant == 0 && terms.size() == 1 && terms[0].factor == 1) return terms[0].of;
  made.op = Op::kSum;
  made.constant = linear.constant;
  made.a = static_cast<ExprId>(terms_.size());
  made.b = static_cast<ExprId>(terms.size());
  for (const SumTerm& term : terms) made.dimensions |= expressions_[term.of].dimensions;
  terms_.insert(terms_.end(), terms.begin(), terms.end());
  return intern_expression(made);
}

// Returns the sum as a kSum if its values are tame, else as an addition that may wrap.
ExprId ExpressionGraph::make_add(ExprId a, ExprId b) {
  const Expression left = expressions_[a], right = expressions_[b];
  const Interval interval = added(left, right);
  if (interval.low == interval.high) return make_constant(interval.low);
  if (left.is_within_sum_limit() && right.is_within_sum_limit()) {
    LinearSum both = as_linear_sum(a);
    if (accumulate(&both, as_linear_sum(b), 1)) {
      const ExprId made = make_sum(std::move(both));
      if (made != kNoExpr) return made;
    }
  }
  return intern_expression({Op::kAdd,
                            static_cast<std::uint16_t>(left.dimensions | right.dimensions), a, b, 0,
                            0, interval.low, interval.high});
}

// Returns the difference as a kSum if its values are tame, else as a subtraction that may wrap.
ExprId ExpressionGraph::make_subtract(ExprId a, ExprId b) {
  const Expression left = expressions_[a], right = expressions_[b];
  const Interval interval = subtracted(left, right);
  if (interval.low == interval.high) return make_constant(interval.low);
  if (left.is_within_sum_limit() && right.is_within_sum_limit()) {
    LinearSum both = as_linear_sum(a);
    if (accumulate(&both, as_linear_sum(b), -1)) {
      const ExprId made = make_sum(std::move(both));
      if (made != kNoExpr) return made;
    }
  }
  return intern_expression({Op::kSubtract,
                            static_cast<std::uint16_t>(left.dimensions | right.dimensions), a, b, 0,
                            0, interval.low, interval.high});
}

// Returns the product. A product with a constant becomes a kSum if its values are tame.
ExprId ExpressionGraph::make_multiply(ExprId a, ExprId b) {
  if (known_value(b)) std::swap(a, b);
  const Expression left = expressions_[a], right = expressions_[b];
  const Interval interval = multiplied(left, right);
  if (interval.low == interval.high) return make_constant(interval.low);
  if (const auto factor = known_value(a)) {
    LinearSum scaled;
    if (right.is_within_sum_limit() && accumulate(&scaled, as_linear_sum(b), *factor)) {
      const ExprId made = make_sum(std::move(scaled));
      if (made != kNoExpr) return made;
    }
  } else if (a > b) {
    std::swap(a, b);
  }
  return intern_expression({Op::kMultiply,
                            static_cast<std::uint16_t>(left.dimensions | right.dimensions), a, b, 0,
                            0, interval.low, interval.high});
}

// ------------------------------------------------------------------------------------- divisions

// Splits a sum into the terms whose factors are multiples of `divisor`, and the rest. Returns true
// if the rest is never negative.
bool ExpressionGraph::split_terms(const LinearSum& whole, std::int64_t divisor,
                                  LinearSum* multiples, LinearSum* rest) {
  for (const SumTerm& term : whole.terms) {
    (term.factor % divisor == 0 ? multiples : rest)->terms.push_back(term);
  }
  rest->constant = whole.constant % divisor;
  if (rest->constant < 0) rest->constant += divisor;
  multiples->constant = whole.constant - rest->constant;
  std::int64_t low = 0, high = 0;
  return interval_of(*rest, &low, &high) && low >= 0;
}

namespace {

// Returns the sum divided by a number that divides every term.
LinearSum divided_by(LinearSum linear, std::int64_t divisor) {
  linear.constant /= divisor;
  for (SumTerm& term : linear.terms) term.factor /= divisor;
  return linear;
}

}  // namespace

// Tries to write the sum as high * common + low with 0 <= low < common and high >= 0. For `common`,
// tries the greatest common divisor of `divisor` and of each term's factor. Returns the first such
// form, or nothing.
std::optional<ExpressionGraph::SumDigits> ExpressionGraph::digits_of_sum(const LinearSum& whole,
                                                                         std::int64_t divisor) {
  for (const SumTerm& term : whole.terms) {
    const std::int64_t common = std::gcd(term.factor, divisor);
    if (common <= 1) continue;
    LinearSum outer, inner;
    if (!split_terms(whole, common, &outer, &inner)) continue;
    const ExprId low = make_sum(inner), high = make_sum(divided_by(outer, common));
    if (low == kNoExpr || high == kNoExpr || expressions_[low].high >= common) continue;
    if (expressions_[high].low < 0) continue;
    return SumDigits{high, low, common};
  }
  return std::nullopt;
}

// Returns a simpler expression for a / divisor, or kNoExpr. Let s >= 0 be the sum of multiples m of
// a number g and of a rest r with 0 <= r < g. Then s / (g * k) is (m / g) / k.
//
// If g is the divisor itself, r may be larger. Then s / g is m / g + r / g, if m >= 0 or r < g.
ExprId ExpressionGraph::quotient_of_sum(ExprId a, std::int64_t divisor) {
  const LinearSum whole = as_linear_sum(a);
  LinearSum multiples, rest;
  if (split_terms(whole, divisor, &multiples, &rest) &&
      (!multiples.terms.empty() || multiples.constant != 0)) {
    const ExprId left = make_sum(divided_by(multiples, divisor));
    const ExprId right = make_sum(rest);
    if (left != kNoExpr && right != kNoExpr &&
        (expressions_[left].low >= 0 || expressions_[right].high < divisor)) {
      return make_add(left, make_divide_by(right, divisor));
    }
  }
  const auto digits = digits_of_sum(whole, divisor);
  return digits ? make_divide_by(digits->high, divisor / digits->common) : kNoExpr;
}

// Returns a simpler expression for a % divisor, or kNoExpr. With the names of quotient_of_sum(), s
// % (g * k) is ((m / g) % k) * g + r. Also, s % g is r % g, since s >= 0 and r >= 0.
ExprId ExpressionGraph::remainder_of_sum(ExprId a, std::int64_t divisor) {
  const LinearSum whole = as_linear_sum(a);
  LinearSum multiples, rest;
  if (split_terms(whole, divisor, &multiples, &rest) &&
      (!multiples.terms.empty() || multiples.constant != 0)) {
    const ExprId right = make_sum(rest);
    if (right != kNoExpr) return make_modulo_by(right, divisor);
  }
  const auto digits = digits_of_sum(whole, divisor);
  if (!digits) return kNoExpr;
  const ExprId high = make_modulo_by(digits->high, divisor / digits->common);
  return make_add(make_multiply(high, make_constant(digits->common)), digits->low);
}

// Returns a / divisor. Requires a >= 0 and divisor > 0.
ExprId ExpressionGraph::make_divide_by(ExprId a, std::int64_t divisor) {
  const Expression left = expressions_[a];
  if (divisor == 1) return a;
  if (left.low / divisor == left.high / divisor) return make_constant(left.low / divisor);
  // (a % (n * m)) / n is a / n % m, which can be joined with a % n.
  if (left.op == Op::kModuloBy && left.constant % divisor == 0) {
    return make_modulo_by(make_divide_by(left.a, divisor), left.constant / divisor);
  }
  if (left.op == Op::kSum) {
    const ExprId made = quotient_of_sum(a, divisor);
    if (made != kNoExpr) return made;
  }
  // (rest + a / n) / m is (rest * n + a) / (n * m).
  if (auto fraction = as_fraction(a); fraction && expressions_[a].low >= 0) {
    std::int64_t product = 0;
    const ExprId numerator = make_sum(std::move(fraction->numerator));
    if (numerator != kNoExpr && expressions_[numerator].low >= 0 &&
        !__builtin_mul_overflow(fraction->denominator, divisor, &product)) {
      return make_divide_by(numerator, product);
    }
  }
  return intern_expression(
      {Op::kDivideBy, left.dimensions, a, 0, 0, divisor, left.low / divisor, left.high / divisor});
}

// Returns a % divisor. Requires a >= 0 and divisor > 0.
ExprId ExpressionGraph::make_modulo_by(ExprId a, std::int64_t divisor) {
  const Expression left = expressions_[a];
  if (divisor == 1) return make_constant(0);
  if (const std::int64_t quotient = left.low / divisor; quotient == left.high / divisor) {
    return make_subtract(a, make_constant(quotient * divisor));
  }
  if (left.op == Op::kModuloBy && left.constant % divisor == 0)
    return make_modulo_by(left.a, divisor);
  if (left.op == Op::kSum) {
    const ExprId made = remainder_of_sum(a, divisor);
    if (made != kNoExpr) return made;
  }
  return intern_expression(
      {Op::kModuloBy, left.dimensions, a, 0, 0, divisor, 0, std::min(left.high, divisor - 1)});
}

// Returns a / b, simplified if b is a positive constant and a is never negative.
ExprId ExpressionGraph::make_divide(ExprId a, ExprId b) {
  const Expression left = expressions_[a], right = expressions_[b];
  if (left.low == left.high && right.low == right.high) {
    const bool fails = right.low == 0 || (left.low == INT64_MIN && right.low == -1);
    return make_constant(fails ? 0 : left.low / right.low);
  }
  if (right.low == right.high && right.low > 0 && left.low >= 0)
    return make_divide_by(a, right.low);
  const Interval interval = divided(left, right);
  return intern_expression({Op::kDivide,
                            static_cast<std::uint16_t>(left.dimensions | right.dimensions), a, b, 0,
                            0, interval.low, interval.high});
}

// Returns a % b, simplified if b is a positive constant and a is never negative.
ExprId ExpressionGraph::make_modulo(ExprId a, ExprId b) {
  const Expression left = expressions_[a], right = expressions_[b];
  if (left.low == left.high && right.low == right.high) {
    const bool fails = right.low == 0 || (left.low == INT64_MIN && right.low == -1);
    return make_constant(fails ? 0 : left.low % right.low);
  }
  if (right.low == right.high && right.low > 0 && left.low >= 0)
    return make_modulo_by(a, right.low);
  const Interval interval = remainder(left, right);
  return intern_expression({Op::kModulo,
                            static_cast<std::uint16_t>(left.dimensions | right.dimensions), a, b, 0,
                            0, interval.low, interval.high});
}

// ---------------------------------------------------------------------------------------- truths

// Returns an expression for a comparison or a logical operation, whose values are 0 and 1.
ExprId ExpressionGraph::make_truth(Op op, ExprId a, ExprId b, ExprId c) {
  const auto dimensions = static_cast<std::uint16_t>(
      expressions_[a].dimensions | expressions_[b].dimensions | expressions_[c].dimensions);
  return intern_expression({op, dimensions, a, b, c, 0, 0, 1});
}

// Returns the condition a == b. The comparisons are decided at once if the intervals of the two
// sides do not overlap, or if the sides are one expression.
ExprId ExpressionGraph::make_equal(ExprId a, ExprId b) {
  const Expression &left = expressions_[a], &right = expressions_[b];
  if (a == b) return make_constant(1);
  if (left.high < right.low || right.high < left.low) return make_constant(0);
  if (left.low == left.high && right.low == right.high) return make_constant(1);
  return make_truth(Op::kEqual, std::min(a, b), std::max(a, b), a);
}

ExprId ExpressionGraph::make_less(ExprId a, ExprId b) {
  const Expression &left = expressions_[a], &right = expressions_[b];
  if (left.high < right.low) return make_constant(1);
  if (left.low >= right.high || a == b) return make_constant(0);
  return make_truth(Op::kLess, a, b, a);
}

ExprId ExpressionGraph::make_less_equal(ExprId a, ExprId b) {
  const Expression &left = expressions_[a], &right = expressions_[b];
  if (left.high <= right.low || a == b) return make_constant(1);
  if (left.low > right.high) return make_constant(0);
  return make_truth(Op::kLessEqual, a, b, a);
}

// Returns the condition that a and b are true. A known side, or two equal sides, need no operation.
ExprId ExpressionGraph::make_and(ExprId a, ExprId b) {
  if (a == b || has_value(b, 1) || has_value(a, 0)) return a;
  if (has_value(a, 1) || has_value(b, 0)) return b;
  return make_truth(Op::kAnd, a, b, a);
}

ExprId ExpressionGraph::make_or(ExprId a, ExprId b) {
  if (a == b || has_value(b, 0) || has_value(a, 1)) return a;
  if (has_value(a, 0) || has_value(b, 1)) return b;
  return make_truth(Op::kOr, a, b, a);
}

// Returns the condition that `a` is false. The negation of a negation is the original condition.
ExprId ExpressionGraph::make_not(ExprId a) {
  if (const auto value = known_value(a)) return make_constant(*value == 0 ? 1 : 0);
  if (expressions_[a].op == Op::kNot) return expressions_[a].a;
  return make_truth(Op::kNot, a, a, a);
}

// Returns a choice between two values. If the condition is known, returns the chosen value itself.
ExprId ExpressionGraph::make_select(ExprId condition, ExprId a, ExprId b) {
  if (const auto value = known_value(condition)) return *value != 0 ? a : b;
  if (a == b) return a;
  const Expression left = expressions_[a], right = expressions_[b];
  const auto dimensions = static_cast<std::uint16_t>(expressions_[condition].dimensions |
                                                     left.dimensions | right.dimensions);
  return intern_expression({Op::kSelect, dimensions, condition, a, b, 0,
                            std::min(left.low, right.low), std::max(left.high, right.high)});
}

ExprId ExpressionGraph::make_addressable(ExprId node, std::int64_t which) {
  return intern_expression(
      {Op::kAddressable, expressions_[node].dimensions, node, 0, 0, which, 0, 1});
}

// Returns the condition that a + b overflows. It is false if the interval of the sum fits into 64
// bits.
ExprId ExpressionGraph::add_overflows(ExprId a, ExprId b) {
  if (!overflows(added(expressions_[a], expressions_[b]))) return make_constant(0);
  return make_truth(Op::kAddOverflows, a, b, a);
}

ExprId ExpressionGraph::subtract_overflows(ExprId a, ExprId b) {
  if (!overflows(subtracted(expressions_[a], expressions_[b]))) return make_constant(0);
  return make_truth(Op::kSubtractOverflows, a, b, a);
}

ExprId ExpressionGraph::multiply_overflows(ExprId a, ExprId b) {
  if (!overflows(multiplied(expressions_[a], expressions_[b]))) return make_constant(0);
  return make_truth(Op::kMultiplyOverflows, a, b, a);
}

// Returns the condition under which a / b fails: b is 0, or the division is INT64_MIN / -1.
ExprId ExpressionGraph::division_fails(ExprId a, ExprId b) {
  const ExprId by_zero = make_equal(b, make_constant(0));
  if (expressions_[a].low != INT64_MIN) return by_zero;
  return make_or(
      by_zero, make_and(make_equal(a, make_constant(INT64_MIN)), make_equal(b, make_constant(-1))));
}

}  // namespace groma::mapper
