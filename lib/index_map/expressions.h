// Expressions: integer expressions over the coordinates of a point, as a graph. Each expression is
// created once and has an interval that contains its values. The intervals of its operands simplify
// it, so that a formula of blocks or cycles becomes the few divisions that it needs.
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

// Sums of terms use only values up to this limit in both directions. So no factor, slope or
// distance of two values overflows.
inline constexpr std::int64_t kTameLimit = std::int64_t{1} << 60;

struct Expression {
  enum class Op : std::uint8_t {
    kConstant,    // its value is `constant`
    kCoordinate,  // coordinate of dimension a, counted from the launch's lower corner
    kSum,         // sum of `constant` and the b terms from index a on
    kAdd,         // a + b; kAdd, kSubtract and kMultiply may wrap around
    kSubtract,
    kMultiply,
    kDivideBy,  // a >= 0 divided by `constant` > 1
    kModuloBy,
    kDivide,  // a / b for any a and b, truncated
    kModulo,
    kEqual,
    kLess,
    kLessEqual,
    kAnd,
    kOr,
    kNot,
    kSelect,  // a ? b : c
    kAddOverflows,
    kSubtractOverflows,
    kMultiplyOverflows,
    // 1 if node a's processors of a kind can address a memory. `constant` encodes the two kinds.
    kAddressable,
  };
  Op op = Op::kConstant;
  std::uint16_t dimensions = 0;  // Bit d is set if the value depends on coordinate d.
  ExprId a = 0, b = 0, c = 0;
  std::int64_t constant = 0;
  std::int64_t low = 0, high = 0;  // All values lie in [low, high].

  bool tame() const { return low >= -kTameLimit && high <= kTameLimit; }
};

// A term of a sum: factor * expression.
struct Term {
  std::int64_t factor = 0;
  ExprId of = 0;
  friend bool operator==(const Term&, const Term&) = default;
};

// A sum of terms. Each expression occurs at most once, and no factor is 0.
struct Linear {
  std::int64_t constant = 0;
  std::vector<Term> terms;
};

// Creates expressions and owns them.
class Expressions {
 public:
  // Limit on the expressions. A formula that is written by hand needs far fewer.
  static constexpr std::size_t kMaxExpressions = 4'096;
  static constexpr std::size_t kMaxTerms = 16'384;  // The limit for the terms of all sums together.

  Expressions();

  const Expression& operator[](ExprId id) const { return expressions_[id]; }
  std::size_t size() const { return expressions_.size(); }
  // Returns true if there are too many expressions. Expressions that are created afterwards are
  // meaningless.
  bool full() const { return expressions_.size() >= kMaxExpressions || terms_.size() >= kMaxTerms; }
  std::span<const Term> terms(const Expression& sum) const { return {&terms_[sum.a], sum.b}; }

  ExprId constant(std::int64_t value);
  // The values are 0 .. extent - 1; extent > 0.
  ExprId coordinate(int dimension, std::int64_t extent);
  // Returns the value of the expression if it is the same for every point.
  std::optional<std::int64_t> known(ExprId id) const;
  bool is(ExprId id, std::int64_t value) const { return known(id) == value; }

  ExprId add(ExprId a, ExprId b);
  ExprId subtract(ExprId a, ExprId b);
  ExprId multiply(ExprId a, ExprId b);
  ExprId divide(ExprId a, ExprId b);
  ExprId modulo(ExprId a, ExprId b);
  ExprId equal(ExprId a, ExprId b);
  ExprId less(ExprId a, ExprId b);
  ExprId less_equal(ExprId a, ExprId b);
  ExprId logical_and(ExprId a, ExprId b);
  ExprId logical_or(ExprId a, ExprId b);
  ExprId negation(ExprId a);
  ExprId select(ExprId condition, ExprId a, ExprId b);
  ExprId addressable(ExprId node, std::int64_t which);

  // Each of these functions returns the condition under which the operation fails on these
  // operands.
  ExprId add_overflows(ExprId a, ExprId b);
  ExprId subtract_overflows(ExprId a, ExprId b);
  ExprId multiply_overflows(ExprId a, ExprId b);
  ExprId division_fails(ExprId a, ExprId b);

  // Returns the expression as a sum, possibly of one term.
  Linear linear(ExprId id) const;
  // Returns a sum that has a quotient among its terms as one division: rest + a / n is (rest * n +
  // a) / n. A quotient alone counts as such a sum. Returns nullopt if `id` has no such term. The
  // numerator is not negative if the sum is not.
  struct Fraction {
    Linear numerator;
    std::int64_t denominator = 1;
  };
  std::optional<Fraction> as_fraction(ExprId id) const;
  // Returns the sum as an expression, or kNoExpr if a value exceeds kTameLimit.
  ExprId sum(Linear linear);

 private:
  ExprId intern(const Expression& expression);
  ExprId truth(Expression::Op op, ExprId a, ExprId b, ExprId c = 0);
  ExprId divide_by(ExprId a, std::int64_t divisor);
  ExprId modulo_by(ExprId a, std::int64_t divisor);
  // A sum written as high * common + low, with 0 <= low < common and high >= 0. Division and
  // remainder by a multiple of `common` then concern only `high`.
  struct Digits {
    ExprId high, low;
    std::int64_t common;
  };
  std::optional<Digits> digits_of_sum(const Linear& whole, std::int64_t divisor);
  ExprId quotient_of_sum(ExprId a, std::int64_t divisor);
  ExprId remainder_of_sum(ExprId a, std::int64_t divisor);
  bool cut(const Linear& whole, std::int64_t divisor, Linear* multiples, Linear* rest);
  bool interval_of(const Linear& linear, std::int64_t* low, std::int64_t* high) const;
  bool rejoin(Linear& linear);
  ExprId joined(ExprId high, ExprId quotient, const Expression& remainder);
  std::size_t hash_of(const Expression& expression) const;
  void grow_table();
  bool same(const Expression& a, const Expression& b) const;

  std::vector<Expression> expressions_;
  std::vector<Term> terms_;
  std::vector<std::uint16_t> table_;  // A hash table of ids. 0: a free place; otherwise an id + 1.
};

}  // namespace groma::mapper
