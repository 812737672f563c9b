#include "derive/affine.h"

#include <fmt/format.h>

namespace groma::domains {

namespace {

// Returns a + b * c, modulo 2^64. A form that wraps around does not yield the samples, so the
// candidate is dropped when it is checked.
std::int64_t add_product(std::int64_t a, std::int64_t b, std::int64_t c) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) +
                                   static_cast<std::uint64_t>(b) * static_cast<std::uint64_t>(c));
}

}  // namespace

std::int64_t AffineForm::value(const Counters& counters) const {
  std::int64_t sum = constant;
  for (std::size_t i = 0; i < counters.size(); ++i) sum = add_product(sum, factors[i], counters[i]);
  return sum;
}

std::int64_t AffineForm::description() const {
  std::int64_t terms = constant != 0 ? 1 : 0;
  for (const std::int64_t factor : factors) terms += factor != 0 ? 1 : 0;
  return 2 * terms;
}

AffineForm AffineForm::plus(const AffineForm& other, std::int64_t factor) const {
  AffineForm sum = *this;
  sum.constant = add_product(constant, factor, other.constant);
  for (std::size_t i = 0; i < factors.size(); ++i) {
    sum.factors[i] = add_product(factors[i], factor, other.factors[i]);
  }
  return sum;
}

std::string AffineForm::text(std::span<const std::string> names) const {
  std::string words;
  const auto add = [&](std::int64_t factor, const std::string& name) {
    if (factor == 0) return;
    const std::uint64_t size =
        factor < 0 ? 0 - static_cast<std::uint64_t>(factor) : static_cast<std::uint64_t>(factor);
    words += words.empty() ? (factor < 0 ? "-" : "") : (factor < 0 ? " - " : " + ");
    words += name.empty() ? fmt::format("{}", size)
             : size == 1  ? name
                          : fmt::format("{} * {}", size, name);
  };
  // The sum begins with a positive term if there is one.
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (factors[i] > 0) add(factors[i], names[i]);
  }
  const bool constant_is_first = words.empty() && constant > 0;
  if (constant_is_first) add(constant, "");
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (factors[i] < 0) add(factors[i], names[i]);
  }
  if (!constant_is_first) add(constant, "");
  return words.empty() ? "0" : words;
}

bool AffineFit::reduce(std::array<Rational, kMaxCounters + 2>* terms, const Equation& by) const {
  const Rational factor = (*terms)[by.pivot];
  if (factor.is_zero()) return true;
  for (std::size_t i = 0; i < terms->size(); ++i) {
    const auto part = multiply(by.terms[i], {-factor.numerator, factor.denominator});
    const auto sum = part ? domains::add((*terms)[i], *part) : std::nullopt;
    if (!sum) return false;
    (*terms)[i] = *sum;
  }
  return true;
}

bool AffineFit::add(const Counters& counters, std::int64_t value) {
  ++added_;
  std::array<Rational, kMaxCounters + 2> terms{};
  terms[0] = {1, 1};
  for (std::size_t i = 0; i < variables_; ++i) terms[i + 1] = {counters[i], 1};
  terms.back() = {value, 1};
  for (const Equation& row : rows_) {
    if (!reduce(&terms, row)) return false;
  }
  for (std::size_t pivot = 0; pivot <= variables_; ++pivot) {
    if (terms[pivot].is_zero()) continue;
    Equation row{pivot, terms};
    for (Rational& term : row.terms) {
      const auto scaled =
          multiply(term, *make_rational(terms[pivot].denominator, terms[pivot].numerator));
      if (!scaled) return false;
      term = *scaled;
    }
    for (Equation& other : rows_) {
      if (!reduce(&other.terms, row)) return false;
    }
    rows_.push_back(row);
    return true;
  }
  return terms.back().is_zero();
}

std::optional<AffineForm> AffineFit::form() const {
  AffineForm result;
  for (const Equation& row : rows_) {
    const Rational& value = row.terms.back();
    constexpr Int128 kMost = Int128{1} << 40;
    if (value.denominator != 1 || value.numerator > kMost || value.numerator < -kMost) {
      return std::nullopt;
    }
    (row.pivot == 0 ? result.constant : result.factors[row.pivot - 1]) =
        static_cast<std::int64_t>(value.numerator);
  }
  return result;
}

}  // namespace groma::domains
