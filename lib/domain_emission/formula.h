// Polynomials with integer coefficients as source text, and bounds of their values.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "domain/point_map.h"
#include "domain/polynomial.h"

namespace groma::domains {

// A polynomial with integer coefficients. Variable l is the counter of loop l.
using IntegerTerms = std::map<Polynomial::Exponents, Int128>;

// Returns the polynomial times `factor`. The factor must make all coefficients integers.
IntegerTerms scale(const Polynomial& polynomial, Int128 factor);
// Returns the coefficient of variable^exponent, which does not have the variable.
IntegerTerms coefficient(const IntegerTerms& terms, std::size_t variable, int exponent);
int degree(const IntegerTerms& terms, std::size_t variable);

// Limit of bounds: larger ones are not told apart.
inline constexpr Int128 kMostBound = Int128{1} << 126;
// Returns a bound of the absolute value of the polynomial and of every step of its evaluation, if
// the absolute value of variable l is at most most[l]. At most kMostBound.
Int128 bound(const IntegerTerms& terms, const std::vector<Int128>& most);
// Return a + b and a * b, at most kMostBound. The numbers are not negative.
Int128 add_bounds(Int128 a, Int128 b);
Int128 multiply_bounds(Int128 a, Int128 b);

// Returns the number as a literal of C++ and OpenCL C. A number of more than 63 bits is written as
// sums and products that begin with `wide`, the name of a type of 128 bits.
std::string number_text(Int128 number, const std::string& wide = "");

// Source text; `is_sum` tells that it needs brackets in a product.
struct FormulaText {
  std::string text;
  bool is_sum = false;
  std::string bracketed() const { return is_sum ? "(" + text + ")" : text; }
};
// Returns the polynomial by Horner's rule, from the last variable to the first.
FormulaText formula(const IntegerTerms& terms, const std::vector<std::string>& names,
                    const std::string& wide = "");

}  // namespace groma::domains
