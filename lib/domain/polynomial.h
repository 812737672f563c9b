// Polynomial: a polynomial in several variables with exact rational coefficients. Numbers have 128
// bits; a result that does not fit makes the whole computation fail instead of wrapping around.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace groma::domains {

__extension__ using Int128 = __int128;

// A rational number in lowest terms; the denominator is positive.
struct Rational {
  Int128 numerator = 0, denominator = 1;
  friend bool operator==(const Rational&, const Rational&) = default;
  bool is_zero() const { return numerator == 0; }
};
// Return nullopt if the result does not fit.
std::optional<Rational> make_rational(Int128 numerator, Int128 denominator);
std::optional<Rational> add(const Rational& a, const Rational& b);
std::optional<Rational> multiply(const Rational& a, const Rational& b);

inline Int128 absolute(Int128 number) { return number < 0 ? -number : number; }
// Returns the greatest common divisor, which is not negative.
Int128 greatest_common_divisor(Int128 a, Int128 b);

// The variables of a polynomial are numbers from 0. Parameters come first, then loop variables.
inline constexpr std::size_t kMaxVariables = 12;
// Limit on the exponent of a variable.
inline constexpr int kMaxExponent = 15;
// Limit on the terms of a polynomial.
inline constexpr std::size_t kMaxTerms = 2048;

// A sum of multiples of variables, with integer coefficients.
struct LinearForm {
  Int128 constant = 0;
  std::array<Int128, kMaxVariables> factors{};
};

class Polynomial {
 public:
  using Exponents = std::array<std::uint8_t, kMaxVariables>;

  Polynomial() = default;
  static Polynomial constant(std::int64_t value);
  static Polynomial variable(std::size_t number);

  // The terms without zeros.
  const std::map<Exponents, Rational>& terms() const { return terms_; }
  bool is_zero() const { return terms_.empty(); }
  // Returns the constant if the polynomial has no variable.
  std::optional<Rational> as_constant() const;
  // Returns nullopt if the polynomial has products of variables or a coefficient that is not an
  // integer.
  std::optional<LinearForm> as_linear_form() const;
  // Returns the largest exponent of a variable.
  int degree(std::size_t variable) const;

  // The following functions return nullopt if a coefficient does not fit, or there are too many
  // terms or a too large exponent.

  std::optional<Polynomial> plus(const Polynomial& other) const;
  std::optional<Polynomial> minus(const Polynomial& other) const;
  std::optional<Polynomial> times(const Polynomial& other) const;
  std::optional<Polynomial> times(const Rational& factor) const;
  // Replaces a variable by a polynomial.
  std::optional<Polynomial> with(std::size_t variable, const Polynomial& value) const;
  // Replaces the first variables by numbers.
  std::optional<Polynomial> with_values(std::span<const std::int64_t> values) const;
  // Returns the sum over all integers t with low <= t < high of this polynomial with t for the
  // variable. `low` and `high` do not have the variable. The result holds where low <= high.
  std::optional<Polynomial> sum(std::size_t variable, const Polynomial& low,
                                const Polynomial& high) const;
  // Returns the value for these values of the variables.
  std::optional<Rational> value(std::span<const std::int64_t> values) const;

  // Returns the smallest positive integer by which all coefficients become integers.
  std::optional<Int128> denominator() const;

  friend bool operator==(const Polynomial&, const Polynomial&) = default;

 private:
  bool add_term(const Exponents& exponents, const Rational& coefficient);

  std::map<Exponents, Rational> terms_;
};

}  // namespace groma::domains
