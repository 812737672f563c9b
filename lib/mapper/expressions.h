// Expressions: integers that are not known until the point is, as a graph over its coordinates.
// Each is made once, with an interval that holds its values, and is simplified by the intervals of
// what it is made of; so a formula of blocks or cycles ends as the few divisions that it needs.
//
// All operations are total: sums and products wrap, a division by zero and INT64_MIN / -1 are 0,
// truths are 0 and 1. Whoever builds a formula also asks for the truth of its failing.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace groma::mapper {

using ExprId = std::uint32_t;
inline constexpr ExprId kNoExpr = 0xFFFFFFFF;

// Values beyond this, in either direction, are not calculated with in sums of terms: so no factor,
// slope or distance of two values overflows.
inline constexpr std::int64_t kTameLimit = std::int64_t{1} << 60;

struct Expression {
  enum class Op : std::uint8_t {
    kConstant,    // constant
    kCoordinate,  // of dimension a, from the launch's lower corner
    kSum,         // constant + the terms at a, b of them
    kAdd,         // the three that may wrap around
    kSubtract,
    kMultiply,
    kDivideBy,  // a >= 0 by constant > 1
    kModuloBy,
    kDivide,  // any a and b, truncated
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
    kAddressable,  // whether node a's processors of a kind can address a memory: `constant` says
                   // which
  };
  Op op = Op::kConstant;
  std::uint16_t dimensions = 0;  // which coordinates it depends on, a bit each
  ExprId a = 0, b = 0, c = 0;
  std::int64_t constant = 0;
  std::int64_t low = 0, high = 0;  // its values lie within

  bool tame() const { return low >= -kTameLimit && high <= kTameLimit; }
};

// A term of a sum.
struct Term {
  std::int64_t factor = 0;
  ExprId of = 0;
  friend bool operator==(const Term&, const Term&) = default;
};

// A sum of terms, those of one expression added up, none 0.
struct Linear {
  std::int64_t constant = 0;
  std::vector<Term> terms;
};

class Expressions {
 public:
  // More than a formula that someone wrote has by far.
  static constexpr std::size_t kMaxExpressions = 4'096;
  static constexpr std::size_t kMaxTerms = 16'384;  // of all sums

  Expressions();

  const Expression& operator[](ExprId id) const { return expressions_[id]; }
  std::size_t size() const { return expressions_.size(); }
  // Nothing that is made from now on means anything: there are too many.
  bool full() const { return expressions_.size() >= kMaxExpressions || terms_.size() >= kMaxTerms; }
  std::span<const Term> terms(const Expression& sum) const { return {&terms_[sum.a], sum.b}; }

  ExprId constant(std::int64_t value);
  ExprId coordinate(int dimension, std::int64_t extent);  // 0 .. extent - 1, extent > 0
  // Its value, where that is one whatever the point.
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
  ExprId both(ExprId a, ExprId b);
  ExprId either(ExprId a, ExprId b);
  ExprId negation(ExprId a);
  ExprId select(ExprId condition, ExprId a, ExprId b);
  ExprId addressable(ExprId node, std::int64_t which);

  // The truth that the operation fails on these operands.
  ExprId add_overflows(ExprId a, ExprId b);
  ExprId subtract_overflows(ExprId a, ExprId b);
  ExprId multiply_overflows(ExprId a, ExprId b);
  ExprId division_fails(ExprId a, ExprId b);

  // As a sum, be it of one term.
  Linear linear(ExprId id) const;
  // Returns a sum in which one term is a quotient as one division: rest + a / n is
  // (rest * n + a) / n. Nothing where `id` has no such term; a quotient by itself has one. The
  // numerator is not negative where the sum is not.
  struct Fraction {
    Linear numerator;
    std::int64_t denominator = 1;
  };
  std::optional<Fraction> as_fraction(ExprId id) const;
  // kNoExpr where a value would be beyond kTameLimit.
  ExprId sum(Linear linear);

 private:
  ExprId intern(const Expression& expression);
  ExprId truth(Expression::Op op, ExprId a, ExprId b, ExprId c = 0);
  ExprId divide_by(ExprId a, std::int64_t divisor);
  ExprId modulo_by(ExprId a, std::int64_t divisor);
  // A sum as high * common + low, 0 <= low < common, high >= 0.
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
  bool same(const Expression& a, const Expression& b) const;

  std::vector<Expression> expressions_;
  std::vector<Term> terms_;
  std::vector<std::uint16_t> table_;  // by hash; 0: free, else an id + 1
};

}  // namespace groma::mapper
