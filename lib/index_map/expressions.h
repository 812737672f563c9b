// ExpressionGraph: integer expressions over the coordinates of a point, as a graph. Each expression
// is created once and has an interval that contains its values. The intervals of its operands
// simplify it, so that a formula of blocks or cycles becomes the few divisions that it needs.
//
// All operations are total. Sums and products wrap around; a division by zero and INT64_MIN / -1
// give 0. Truth values are 0 and 1. Code that builds a formula also builds the condition under
// which the formula fails.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace groma::mapper {

using ExprId = std::uint32_t;
inline constexpr ExprId kNoExpr = 0xFFFFFFFF;

// The largest absolute value of an expression that may become a term of a sum. Below this limit, no
// factor, slope or distance of two values overflows.
inline constexpr std::int64_t kSumValueLimit = std::int64_t{1} << 60;

struct Expression {
  enum class Op : std::uint8_t {
    // A constant with the value `constant`.
    kConstant,
    // The coordinate of the point in dimension `a`, counted from the launch's lower corner.
    kCoordinate,
    // The sum of `constant` and of `b` terms, the first of which has index `a` in the list of
    // terms.
    kSum,
    // The sum a + b. kAdd, kSubtract and kMultiply wrap around on overflow.
    kAdd,
    kSubtract,
    kMultiply,
    // The quotient of `a`, which is not negative, and `constant`, which is above 1.
    kDivideBy,
    kModuloBy,
    // The quotient a / b of any integers, rounded towards zero.
    kDivide,
    kModulo,
    kEqual,
    kLess,
    kLessEqual,
    kAnd,
    kOr,
    kNot,
    // The value of `b` if the condition `a` is not 0, otherwise that of `c`.
    kSelect,
    kAddOverflows,
    kSubtractOverflows,
    kMultiplyOverflows,
    // 1 if node a's processors of a kind can address a memory. `constant` encodes the two kinds.
    kAddressable,
  };
  Op op = Op::kConstant;
  // Bit d is set if the value depends on coordinate d.
  std::uint16_t dimensions = 0;
  ExprId a = 0, b = 0, c = 0;
  std::int64_t constant = 0;
  // All values of the expression lie between `low` and `high`, both included.
  std::int64_t low = 0, high = 0;

  bool is_within_sum_limit() const { return low >= -kSumValueLimit && high <= kSumValueLimit; }
};

// A term of a sum: factor * expression.
struct SumTerm {
  std::int64_t factor = 0;
  ExprId of = 0;
  friend bool operator==(const SumTerm&, const SumTerm&) = default;
};

// A sum of terms. Each expression occurs at most once, and no factor is 0.
struct LinearSum {
  std::int64_t constant = 0;
  std::vector<SumTerm> terms;
};

// Creates expressions and owns them. Equal expressions are stored once.
class ExpressionGraph {
 public:
  // Limit on the expressions. A formula that is written by hand needs far fewer.
  static constexpr std::size_t kMaxExpressions = 4'096;
  // Limit on the terms of all sums together.
  static constexpr std::size_t kMaxTerms = 16'384;

  ExpressionGraph();

  const Expression& operator[](ExprId id) const { return expressions_[id]; }
  std::size_t size() const { return expressions_.size(); }
  // Returns true if there are too many expressions. Expressions that are created afterwards are
  // meaningless.
  bool is_full() const {
    return expressions_.size() >= kMaxExpressions || terms_.size() >= kMaxTerms;
  }
  std::span<const SumTerm> terms_of(const Expression& sum) const { return {&terms_[sum.a], sum.b}; }

  ExprId make_constant(std::int64_t value);
  // Returns the coordinate of a point in the dimension. Its values are 0 .. extent - 1; `extent` is
  // above 0.
  ExprId make_coordinate(int dimension, std::int64_t extent);
  // Returns the value of the expression if it is the same for every point.
  std::optional<std::int64_t> known_value(ExprId id) const;
  bool has_value(ExprId id, std::int64_t value) const { return known_value(id) == value; }

  ExprId make_add(ExprId a, ExprId b);
  ExprId make_subtract(ExprId a, ExprId b);
  ExprId make_multiply(ExprId a, ExprId b);
  ExprId make_divide(ExprId a, ExprId b);
  ExprId make_modulo(ExprId a, ExprId b);
  ExprId make_equal(ExprId a, ExprId b);
  ExprId make_less(ExprId a, ExprId b);
  ExprId make_less_equal(ExprId a, ExprId b);
  ExprId make_and(ExprId a, ExprId b);
  ExprId make_or(ExprId a, ExprId b);
  ExprId make_not(ExprId a);
  ExprId make_select(ExprId condition, ExprId a, ExprId b);
  ExprId make_addressable(ExprId node, std::int64_t which);

  // add_overflows, subtract_overflows, multiply_overflows and division_fails return the condition
  // under which that operation on a and b fails.
  ExprId add_overflows(ExprId a, ExprId b);
  ExprId subtract_overflows(ExprId a, ExprId b);
  ExprId multiply_overflows(ExprId a, ExprId b);
  ExprId division_fails(ExprId a, ExprId b);

  // Returns the expression as a sum, possibly of one term.
  LinearSum as_linear_sum(ExprId id) const;
  // Returns a sum that has a quotient among its terms as one division: rest + a / n is (rest * n +
  // a) / n. A quotient alone counts as such a sum. Returns nullopt if `id` has no such term. The
  // numerator is not negative if the sum is not.
  struct SumFraction {
    LinearSum numerator;
    std::int64_t denominator = 1;
  };
  std::optional<SumFraction> as_fraction(ExprId id) const;
  // Returns the sum as an expression, or kNoExpr if a value exceeds kSumValueLimit.
  ExprId make_sum(LinearSum linear);

 private:
  ExprId intern_expression(const Expression& expression);
  ExprId make_truth(Expression::Op op, ExprId a, ExprId b, ExprId c = 0);
  ExprId make_divide_by(ExprId a, std::int64_t divisor);
  ExprId make_modulo_by(ExprId a, std::int64_t divisor);
  // A sum written as high * common + low, with 0 <= low < common and high >= 0. Division and
  // remainder by a multiple of `common` then concern only `high`.
  struct SumDigits {
    ExprId high, low;
    std::int64_t common;
  };
  std::optional<SumDigits> digits_of_sum(const LinearSum& whole, std::int64_t divisor);
  ExprId quotient_of_sum(ExprId a, std::int64_t divisor);
  ExprId remainder_of_sum(ExprId a, std::int64_t divisor);
  bool split_terms(const LinearSum& whole, std::int64_t divisor, LinearSum* multiples,
                   LinearSum* rest);
  bool interval_of(const LinearSum& linear, std::int64_t* low, std::int64_t* high) const;
  bool rejoin_digits(LinearSum& linear);
  ExprId join_digits(ExprId high, ExprId quotient, const Expression& remainder);
  std::size_t hash_of(const Expression& expression) const;
  void grow_table();
  bool same_expression(const Expression& a, const Expression& b) const;

  std::vector<Expression> expressions_;
  std::vector<SumTerm> terms_;
  // A hash table of the ids of all expressions. 0 marks a free place; any other entry is an id + 1.
  std::vector<std::uint16_t> table_;
};

}  // namespace groma::mapper
