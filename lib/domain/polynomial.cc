// Exact arithmetic with polynomials.
#include "domain/polynomial.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace groma::domains {
namespace {

// The numbers stay below 2^126, so that sums of two of them and their negations fit.
constexpr Int128 kLimit = Int128{1} << 126;
bool fits(Int128 number) { return number > -kLimit && number < kLimit; }

std::optional<Int128> product(Int128 a, Int128 b) {
  Int128 result = 0;
  if (__builtin_mul_overflow(a, b, &result) || !fits(result)) return std::nullopt;
  return result;
}

}  // namespace

Int128 greatest_common_divisor(Int128 a, Int128 b) {
  a = absolute(a);
  b = absolute(b);
  while (b != 0) {
    const Int128 rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

std::optional<Rational> make_rational(Int128 numerator, Int128 denominator) {
  if (denominator == 0 || !fits(numerator) || !fits(denominator)) return std::nullopt;
  const Int128 divisor = greatest_common_divisor(numerator, denominator);
  const Int128 sign = denominator < 0 ? -1 : 1;
  return Rational{sign * (numerator / divisor), sign * (denominator / divisor)};
}

std::optional<Rational> add(const Rational& a, const Rational& b) {
  const Int128 divisor = greatest_common_divisor(a.denominator, b.denominator);
  const auto left = product(a.numerator, b.denominator / divisor),
             right = product(b.numerator, a.denominator / divisor),
             below = product(a.denominator, b.denominator / divisor);
  if (!left || !right || !below) return std::nullopt;
  return make_rational(*left + *right, *below);
}

std::optional<Rational> multiply(const Rational& a, const Rational& b) {
  // Common divisors are taken out first, so that the products stay small.
  const Int128 first = std::max<Int128>(1, greatest_common_divisor(a.numerator, b.denominator)),
               second = std::max<Int128>(1, greatest_common_divisor(b.numerator, a.denominator));
  const auto above = product(a.numerator / first, b.numerator / second),
             below = product(a.denominator / second, b.denominator / first);
  if (!above || !below) return std::nullopt;
  return make_rational(*above, *below);
}

Polynomial Polynomial::constant(std::int64_t value) {
  Polynomial result;
  result.add_term({}, {value, 1});
  return result;
}

Polynomial Polynomial::variable(std::size_t number) {
  Polynomial result;
  Exponents exponents{};
  exponents[number] = 1;
  result.add_term(exponents, {1, 1});
  return result;
}

// Returns false if the sum does not fit or there are too many terms.
bool Polynomial::add_term(const Exponents& exponents, const Rational& coefficient) {
  if (coefficient.is_zero()) return true;
  const auto [found, is_new] = terms_.emplace(exponents, coefficient);
  if (is_new) return terms_.size() <= kMaxTerms;
  const auto sum = add(found->second, coefficient);
  if (!sum) return false;
  if (sum->is_zero()) {
    terms_.erase(found);
  } else {
    found->second = *sum;
  }
  return true;
}

std::optional<Rational> Polynomial::as_constant() const {
  if (terms_.empty()) return Rational{};
  if (terms_.size() > 1 || terms_.begin()->first != Exponents{}) return std::nullopt;
  return terms_.begin()->second;
}

std::optional<LinearForm> Polynomial::as_linear_form() const {
  LinearForm form;
  for (const auto& [exponents, coefficient] : terms_) {
    const int degree = std::accumulate(exponents.begin(), exponents.end(), 0);
    if (degree > 1 || coefficient.denominator != 1) return std::nullopt;
    const auto* const variable = std::find(exponents.begin(), exponents.end(), 1);
    (degree == 0 ? form.constant
                 : form.factors[static_cast<std::size_t>(variable - exponents.begin())]) =
        coefficient.numerator;
  }
  return form;
}

int Polynomial::degree(std::size_t variable) const {
  int most = 0;
  for (const auto& [exponents, coefficient] : terms_)
    most = std::max<int>(most, exponents[variable]);
  return most;
}

std::optional<Polynomial> Polynomial::plus(const Polynomial& other) const {
  Polynomial result = *this;
  for (const auto& [exponents, coefficient] : other.terms_) {
    if (!result.add_term(exponents, coefficient)) return std::nullopt;
  }
  return result;
}

std::optional<Polynomial> Polynomial::minus(const Polynomial& other) const {
  const auto negative = other.times(Rational{-1, 1});
  return negative ? plus(*negative) : std::nullopt;
}

std::optional<Polynomial> Polynomial::times(const Rational& factor) const {
  Polynomial result;
  for (const auto& [exponents, coefficient] : terms_) {
    const auto product = multiply(coefficient, factor);
    if (!product || !result.add_term(exponents, *product)) return std::nullopt;
  }
  return result;
}

std::optional<Polynomial> Polynomial::times(const Polynomial& other) const {
  Polynomial result;
  for (const auto& [left, left_coefficient] : terms_) {
    for (const auto& [right, right_coefficient] : other.terms_) {
      Exponents exponents{};
      for (std::size_t v = 0; v < kMaxVariables; ++v) {
        exponents[v] = static_cast<std::uint8_t>(left[v] + right[v]);
        if (exponents[v] > kMaxExponent) return std::nullopt;
      }
      const auto product = multiply(left_coefficient, right_coefficient);
      if (!product || !result.add_term(exponents, *product)) return std::nullopt;
    }
  }
  return result;
}

std::optional<Polynomial> Polynomial::with(std::size_t variable, const Polynomial& value) const {
  // The parts of the polynomial by the exponent of the variable; Horner's rule then inserts the
  // value.
  std::vector<Polynomial> parts(static_cast<std::size_t>(degree(variable)) + 1);
  for (const auto& [exponents, coefficient] : terms_) {
    Exponents rest = exponents;
    rest[variable] = 0;
    if (!parts[exponents[variable]].add_term(rest, coefficient)) return std::nullopt;
  }
  std::optional<Polynomial> result = parts.back();
  for (std::size_t i = parts.size() - 1; result && i-- > 0;) {
    result = result->times(value);
    if (result) result = result->plus(parts[i]);
  }
  return result;
}

std::optional<Polynomial> Polynomial::with_values(std::span<const std::int64_t> values) const {
  std::optional<Polynomial> result = *this;
  for (std::size_t v = 0; result && v < values.size(); ++v) {
    result = result->with(v, constant(values[v]));
  }
  return result;
}

namespace {

// Returns the polynomial F in variable 0 for which F(high) - F(low) is the sum of t^power over
// low <= t < high: the sum of the powers of 0, 1, ..., x - 1. Found by Faulhaber's recursion:
// x^(p+1) = sum over q <= p of binomial(p+1, q) * F_q(x).
std::optional<Polynomial> power_sum(int power) {
  std::vector<Polynomial> sums;
  Polynomial next = Polynomial::variable(0);
  for (int p = 0; p <= power; ++p) {
    // `next` is x^(p+1) here.
    Polynomial sum = next;
    std::int64_t binomial = 1;
    for (int q = 0; q < p; ++q) {
      const auto part = sums[static_cast<std::size_t>(q)].times(Rational{-binomial, 1});
      const auto reduced = part ? sum.plus(*part) : std::nullopt;
      if (!reduced) return std::nullopt;
      sum = *reduced;
      binomial = binomial * (p + 1 - q) / (q + 1);
    }
    // The factor of F_p itself is p + 1.
    const auto last = sum.times(Rational{1, p + 1});
    const auto raised = next.times(Polynomial::variable(0));
    if (!last || !raised) return std::nullopt;
    sums.push_back(*last);
    next = *raised;
  }
  return sums.back();
}

}  // namespace

std::optional<Polynomial> Polynomial::sum(std::size_t variable, const Polynomial& low,
                                          const Polynomial& high) const {
  Polynomial result;
  std::map<int, Polynomial> parts;
  for (const auto& [exponents, coefficient] : terms_) {
    Exponents rest = exponents;
    rest[variable] = 0;
    if (!parts[exponents[variable]].add_term(rest, coefficient)) return std::nullopt;
  }
  for (const auto& [power, factor] : parts) {
    const auto antidifference = power_sum(power);
    if (!antidifference) return std::nullopt;
    const auto upper = antidifference->with(0, high), lower = antidifference->with(0, low);
    const auto difference = upper && lower ? upper->minus(*lower) : std::nullopt;
    const auto part = difference ? difference->times(factor) : std::nullopt;
    const auto total = part ? result.plus(*part) : std::nullopt;
    if (!total) return std::nullopt;
    result = *total;
  }
  return result;
}

std::optional<Rational> Polynomial::value(std::span<const std::int64_t> values) const {
  Rational result;
  for (const auto& [exponents, coefficient] : terms_) {
    Rational term = coefficient;
    for (std::size_t v = 0; v < kMaxVariables; ++v) {
      for (int i = 0; i < exponents[v]; ++i) {
        const auto next = multiply(term, Rational{values[v], 1});
        if (!next) return std::nullopt;
        term = *next;
      }
    }
    const auto sum = add(result, term);
    if (!sum) return std::nullopt;
    result = *sum;
  }
  return result;
}

std::optional<Int128> Polynomial::denominator() const {
  Int128 common = 1;
  for (const auto& [exponents, coefficient] : terms_) {
    const Int128 divisor = greatest_common_divisor(common, coefficient.denominator);
    const auto next = product(common, coefficient.denominator / divisor);
    if (!next) return std::nullopt;
    common = *next;
  }
  return common;
}

}  // namespace groma::domains
