#include "domain_emission/formula.h"

#include <fmt/format.h>

#include <algorithm>

namespace groma::domains {

IntegerTerms scale(const Polynomial& polynomial, Int128 factor) {
  IntegerTerms terms;
  for (const auto& [exponents, each] : polynomial.terms()) {
    terms[exponents] = factor / each.denominator * each.numerator;
  }
  return terms;
}

IntegerTerms coefficient(const IntegerTerms& terms, std::size_t variable, int exponent) {
  IntegerTerms found;
  for (const auto& [exponents, factor] : terms) {
    if (exponents[variable] != exponent) continue;
    Polynomial::Exponents rest = exponents;
    rest[variable] = 0;
    found[rest] = factor;
  }
  return found;
}

int degree(const IntegerTerms& terms, std::size_t variable) {
  int most = 0;
  for (const auto& [exponents, factor] : terms) most = std::max<int>(most, exponents[variable]);
  return most;
}

Int128 add_bounds(Int128 a, Int128 b) { return std::min(a + b, kMostBound); }

Int128 multiply_bounds(Int128 a, Int128 b) {
  Int128 product = 0;
  return __builtin_mul_overflow(a, b, &product) ? kMostBound : std::min(product, kMostBound);
}

Int128 bound(const IntegerTerms& terms, const std::vector<Int128>& most) {
  Int128 sum = 0;
  for (const auto& [exponents, factor] : terms) {
    Int128 size = std::min(factor < 0 ? -factor : factor, kMostBound);
    for (std::size_t v = 0; v < most.size(); ++v) {
      const Int128 each = std::max<Int128>(1, most[v]);
      for (int e = 0; e < exponents[v]; ++e) size = multiply_bounds(size, each);
    }
    sum = add_bounds(sum, size);
  }
  return sum;
}

std::string number_text(Int128 number, const std::string& wide) {
  constexpr Int128 kShort = INT64_MAX, kPower = 1'000'000'000'000'000'000;
  if (number <= kShort && number >= -kShort) {
    return fmt::format("{}", static_cast<std::int64_t>(number));
  }
  if (number < 0) return "(-" + number_text(-number, wide) + ")";
  return fmt::format("({}({}) * {} + {})", wide, number_text(number / kPower, wide),
                     static_cast<std::int64_t>(kPower), static_cast<std::int64_t>(number % kPower));
}

namespace {

// Adds a summand to a sum.
FormulaText plus(const FormulaText& a, const FormulaText& b) {
  if (a.text == "0") return b;
  if (b.text == "0") return a;
  if (b.text.front() != '-') return {a.text + " + " + b.text, true};
  return b.is_sum ? FormulaText{a.text + " + (" + b.text + ")", true}
                  : FormulaText{a.text + " - " + b.text.substr(1), true};
}

FormulaText times(const FormulaText& factor, const std::string& name) {
  if (factor.text == "1") return {name};
  if (factor.text == "-1") return {"-" + name};
  return {factor.bracketed() + " * " + name};
}

// Returns the formula of the first `count` variables.
FormulaText formula_of(const IntegerTerms& terms, const std::vector<std::string>& names,
                       const std::string& wide, std::size_t count) {
  if (count == 0) {
    return {number_text(terms.empty() ? 0 : terms.begin()->second, wide)};
  }
  const std::size_t variable = count - 1;
  FormulaText text{"0"};
  for (int e = degree(terms, variable); e >= 0; --e) {
    if (text.text != "0") text = times(text, names[variable]);
    text = plus(text, formula_of(coefficient(terms, variable, e), names, wide, variable));
  }
  return text;
}

}  // namespace

FormulaText formula(const IntegerTerms& terms, const std::vector<std::string>& names,
                    const std::string& wide) {
  return formula_of(terms, names, wide, names.size());
}

}  // namespace groma::domains
