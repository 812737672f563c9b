// Ranks and unranks the points of nested loops by polynomials and their exact integer roots.
#include "domain/loop_map.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "domain/description.h"

namespace groma::domains {

std::optional<LoopCounts> count_points(const LoopNest& nest) {
  const std::size_t depth = nest.depth();
  LoopCounts counts;
  counts.inside.resize(depth);
  counts.before.resize(depth);
  Polynomial inner = Polynomial::constant(1);
  for (std::size_t l = depth; l-- > 0;) {
    const std::size_t counter = nest.parameters + l;
    const auto inside = inner.sum(counter, nest.first[l], nest.end[l]);
    const auto before = inner.sum(counter, nest.first[l], Polynomial::variable(counter));
    if (!inside || !before) return std::nullopt;
    counts.inside[l] = inner = *inside;
    counts.before[l] = *before;
  }
  return counts;
}

bool counts_are_right(const LoopNest& nest, const LoopCounts& counts) {
  const std::size_t depth = nest.depth();
  for (std::size_t l = 0; l < depth; ++l) {
    const std::size_t counter = nest.parameters + l;
    const auto next = Polynomial::variable(counter).plus(Polynomial::constant(1));
    const auto after = next ? counts.before[l].with(counter, *next) : std::nullopt;
    const auto step = after ? after->minus(counts.before[l]) : std::nullopt;
    const auto begin = counts.before[l].with(counter, nest.first[l]);
    const auto end = counts.before[l].with(counter, nest.end[l]);
    const Polynomial inner = l + 1 < depth ? counts.inside[l + 1] : Polynomial::constant(1);
    if (!step || !begin || !end || *step != inner || !begin->is_zero() ||
        *end != counts.inside[l]) {
      return false;
    }
  }
  return true;
}

namespace {

// An affine function of the counters with integer coefficients.
struct Affine {
  Int128 constant = 0;
  std::array<Int128, kMaxDimensions> factors{};

  std::int64_t value(const Coordinates& counters, std::size_t count) const {
    Int128 sum = constant;
    for (std::size_t i = 0; i < count; ++i) sum += factors[i] * counters[i];
    return static_cast<std::int64_t>(sum);
  }
};

// Numbers up to this size are multiplied by counters of 63 bits without overflow.
constexpr Int128 kMostFactor = Int128{1} << 60;

// Returns the polynomial with values for its first variables; the others move to the front.
std::optional<Polynomial> with_parameters(const Polynomial& polynomial,
                                          std::span<const std::int64_t> parameters,
                                          std::size_t depth) {
  std::optional<Polynomial> result = polynomial.with_values(parameters);
  if (parameters.empty()) return result;
  for (std::size_t l = 0; result && l < depth; ++l) {
    result = result->with(parameters.size() + l, Polynomial::variable(l));
  }
  return result;
}

// Returns nullopt if the polynomial is not affine with integer coefficients of moderate size.
std::optional<Affine> as_affine(const Polynomial& polynomial) {
  const auto form = polynomial.as_linear_form();
  const auto is_moderate = [](Int128 number) {
    return number <= kMostFactor && number >= -kMostFactor;
  };
  if (!form || !is_moderate(form->constant) ||
      !std::all_of(form->factors.begin(), form->factors.end(), is_moderate)) {
    return std::nullopt;
  }
  Affine affine;
  affine.constant = form->constant;
  std::copy_n(form->factors.begin(), affine.factors.size(), affine.factors.begin());
  return affine;
}

// The number of points before a counter: a polynomial in the counter whose coefficients are
// polynomials in the outer counters, all multiplied by a common denominator.
struct CountsBefore {
  struct Term {
    Int128 factor = 0;
    std::array<std::uint8_t, kMaxDimensions> exponents{};
  };
  Int128 denominator = 1;
  // By the exponent of the counter.
  std::vector<std::vector<Term>> coefficients;
};

class LoopMap final : public PointMap {
 public:
  // Sets up the map. Returns the fault if there is one.
  std::optional<LoopFault> set_up(const LoopNest& nest, const LoopCounts& counts,
                                  std::span<const std::int64_t> parameters) {
    depth_ = nest.depth();
    dimensions_ = static_cast<int>(depth_);
    for (std::size_t l = 0; l < depth_; ++l) {
      const auto first = with_parameters(nest.first[l], parameters, depth_),
                 end = with_parameters(nest.end[l], parameters, depth_);
      if (!first || !end) return LoopFault{LoopFault::Kind::kTooLarge, l};
      const auto low = as_affine(*first), high = as_affine(*end);
      if (!low || !high) return LoopFault{LoopFault::Kind::kNotAffine, l};
      description_.first.push_back(*first);
      description_.end.push_back(*end);
      first_.push_back(*low);
      last_.push_back(*high);
      last_.back().constant -= 1;
      // The extremes over the outer loops, which are set up already.
      if (const auto fault = check_bounds(l)) return fault;
    }
    for (std::size_t l = 0; l < depth_; ++l) {
      const auto before = with_parameters(counts.before[l], parameters, depth_);
      if (!before || !compile(*before, l)) return LoopFault{LoopFault::Kind::kTooLarge, l};
      description_.before.push_back(*before);
    }
    const auto all = with_parameters(counts.inside[0], parameters, depth_);
    const auto total = all ? all->as_constant() : std::nullopt;
    if (!total || total->numerator > INT64_MAX) return LoopFault{LoopFault::Kind::kTooLarge, 0};
    count_ = static_cast<std::int64_t>(total->numerator);
    if (!fits()) return LoopFault{LoopFault::Kind::kTooLarge, 0};
    return std::nullopt;
  }

  void unrank(std::int64_t k, Coordinates& point) const override {
    if (is_small_) {
      unrank_as<std::int64_t>(k, point);
    } else {
      unrank_as<Int128>(k, point);
    }
  }

  std::int64_t rank(const Coordinates& point) const override {
    if (count_ == 0) return -1;
    Int128 sum = 0;
    for (std::size_t l = 0; l < depth_; ++l) {
      // Coordinates outside of the bounds could overflow.
      if (point[l] < lower_[l] || point[l] > upper_[l] || point[l] < first_[l].value(point, l) ||
          point[l] > last_[l].value(point, l)) {
        return -1;
      }
      std::array<Int128, kMaxVariables * 2> coefficients{};
      const std::size_t degree = coefficients_at<Int128>(l, point, coefficients);
      sum += horner(coefficients, degree, Int128{point[l]}) / before_[l].denominator;
    }
    return static_cast<std::int64_t>(sum);
  }

  Proof proof() const override {
    return {Proof::Kind::kPolynomial,
            "the polynomials that count the points satisfy their recursion identically, and no "
            "loop has a negative length for these parameters"};
  }
  MapDescription describe() const override { return {description_}; }

 private:
  // Returns the smallest or the largest value of an affine function of the counters of the first
  // `count` loops. The counter of an inner loop is replaced by the bound where the function is
  // extreme. Exact if no loop is empty; otherwise the result may be too extreme.
  std::optional<Int128> extreme(Affine function, std::size_t count, bool largest) const {
    constexpr Int128 kMost = Int128{1} << 100;
    for (std::size_t l = count; l-- > 0;) {
      const Int128 factor = function.factors[l];
      if (factor == 0) continue;
      const Affine& bound = (factor > 0) == largest ? last_[l] : first_[l];
      function.factors[l] = 0;
      const auto add = [&](Int128 value, Int128& to) {
        Int128 product = 0;
        return !__builtin_mul_overflow(factor, value, &product) &&
               !__builtin_add_overflow(to, product, &to) && to < kMost && to > -kMost;
      };
      if (!add(bound.constant, function.constant)) return std::nullopt;
      for (std::size_t i = 0; i < l; ++i) {
        if (!add(bound.factors[i], function.factors[i])) return std::nullopt;
      }
    }
    return function.constant;
  }

  std::optional<LoopFault> check_bounds(std::size_t l) {
    const auto low = extreme(first_[l], l, false), high = extreme(last_[l], l, true);
    constexpr Int128 kMost = std::int64_t{1} << 62;
    if (!low || !high || *low < -kMost || *high > kMost || *low > kMost || *high < -kMost) {
      return LoopFault{LoopFault::Kind::kTooLarge, l};
    }
    lower_[l] = static_cast<std::int64_t>(*low);
    upper_[l] = static_cast<std::int64_t>(*high);
    Affine length = last_[l];
    length.constant += 1 - first_[l].constant;
    for (std::size_t i = 0; i < l; ++i) length.factors[i] -= first_[l].factors[i];
    const auto shortest = extreme(length, l, false);
    if (!shortest) return LoopFault{LoopFault::Kind::kTooLarge, l};
    if (*shortest < 0 && !is_empty_before(l)) {
      return LoopFault{LoopFault::Kind::kNegativeLength, l};
    }
    return std::nullopt;
  }
  // Returns true if an outer loop has no iterations at all, so that nothing inside it counts.
  bool is_empty_before(std::size_t l) const {
    for (std::size_t i = 0; i < l; ++i) {
      if (upper_[i] < lower_[i]) return true;
    }
    return false;
  }

  bool compile(const Polynomial& before, std::size_t l) {
    const auto denominator = before.denominator();
    if (!denominator) return false;
    CountsBefore counts;
    counts.denominator = *denominator;
    counts.coefficients.resize(static_cast<std::size_t>(before.degree(l)) + 1);
    for (const auto& [exponents, coefficient] : before.terms()) {
      CountsBefore::Term term;
      if (__builtin_mul_overflow(coefficient.numerator, *denominator / coefficient.denominator,
                                 &term.factor)) {
        return false;
      }
      std::copy_n(exponents.begin(), l, term.exponents.begin());
      counts.coefficients[exponents[l]].push_back(term);
    }
    before_.push_back(std::move(counts));
    return true;
  }

  // Returns false if an evaluation could overflow 128 bits. Decides whether 64 bits suffice.
  bool fits() {
    is_small_ = true;
    constexpr Int128 kLarge = Int128{1} << 125, kSmall = Int128{1} << 62;
    for (std::size_t l = 0; l < depth_; ++l) {
      // The sum of the sizes of all terms; it bounds each step of an evaluation by Horner's rule.
      Int128 sum = 0;
      const auto add = [&](Int128 factor, const CountsBefore::Term& term, std::size_t exponent) {
        Int128 size = factor < 0 ? -factor : factor;
        const auto multiply = [&](std::size_t counter) {
          // A counter may be one behind the last one.
          const Int128 most =
              1 + std::max<Int128>(std::abs(lower_[counter]), std::abs(upper_[counter]));
          return !__builtin_mul_overflow(size, most, &size) && size < kLarge;
        };
        for (std::size_t i = 0; i < l; ++i) {
          for (int e = 0; e < term.exponents[i]; ++e) {
            if (!multiply(i)) return false;
          }
        }
        for (std::size_t e = 0; e < exponent; ++e) {
          if (!multiply(l)) return false;
        }
        sum += size;
        return sum < kLarge;
      };
      for (std::size_t e = 0; e < before_[l].coefficients.size(); ++e) {
        for (const CountsBefore::Term& term : before_[l].coefficients[e]) {
          if (!add(term.factor, term, e)) return false;
        }
      }
      const Int128 scaled = before_[l].denominator * count_;
      if (before_[l].denominator > (Int128{1} << 60)) return false;
      is_small_ = is_small_ && sum < kSmall && scaled < kSmall;
    }
    return true;
  }

  // Writes the coefficients of the count before the counter of loop `l`. Returns the degree.
  template <typename Int>
  std::size_t coefficients_at(std::size_t l, const Coordinates& point,
                              std::array<Int, kMaxVariables * 2>& coefficients) const {
    const auto& terms = before_[l].coefficients;
    for (std::size_t e = 0; e < terms.size(); ++e) {
      Int sum = 0;
      for (const CountsBefore::Term& term : terms[e]) {
        Int product = static_cast<Int>(term.factor);
        for (std::size_t i = 0; i < l; ++i) {
          for (int n = 0; n < term.exponents[i]; ++n) product *= static_cast<Int>(point[i]);
        }
        sum += product;
      }
      coefficients[e] = sum;
    }
    return terms.size() - 1;
  }

  template <typename Int>
  static Int horner(const std::array<Int, kMaxVariables * 2>& coefficients, std::size_t degree,
                    Int counter) {
    Int value = coefficients[degree];
    for (std::size_t e = degree; e-- > 0;) value = value * counter + coefficients[e];
    return value;
  }

  // Returns an estimate of the counter for which the polynomial has the value `target`.
  template <typename Int>
  static double guess(const std::array<Int, kMaxVariables * 2>& coefficients, std::size_t degree,
                      Int target) {
    const auto c = [&](std::size_t e) { return static_cast<double>(coefficients[e]); };
    const auto value = static_cast<double>(target);
    if (degree == 1) return (value - c(0)) / c(1);
    if (degree == 2) {
      const double root = c(1) * c(1) - 4 * c(2) * (c(0) - value);
      return (-c(1) + std::sqrt(std::max(0.0, root))) / (2 * c(2));
    }
    // The leading term and the next one: c (x + b / (n c))^n is right up to terms of lower degree.
    const double n = static_cast<double>(degree);
    const double lead = std::max(0.0, (value - c(0)) / c(degree));
    const double power = degree == 3 ? std::cbrt(lead) : std::pow(lead, 1 / n);
    return power - c(degree - 1) / (n * c(degree));
  }

  // Returns the largest counter from `low` to `high` for which the polynomial, which does not
  // decrease there, is at most `target`. It is so at `low`.
  template <typename Int>
  static std::int64_t root(const std::array<Int, kMaxVariables * 2>& coefficients,
                           std::size_t degree, Int target, std::int64_t low, std::int64_t high) {
    if (degree == 0) return high;
    const double estimate = guess(coefficients, degree, target);
    std::int64_t at = low;
    if (estimate >= static_cast<double>(high)) {
      at = high;
    } else if (estimate > static_cast<double>(low)) {
      at = static_cast<std::int64_t>(estimate);
    }
    constexpr int kSteps = 3;
    for (int i = 0; i < kSteps; ++i) {
      const std::int64_t after = at + 1;
      const auto next = static_cast<Int>(after);
      if (horner(coefficients, degree, static_cast<Int>(at)) > target) {
        high = at - 1;
        at = high;
      } else if (at < high && horner<Int>(coefficients, degree, next) <= target) {
        low = at + 1;
        at = low;
      } else {
        return at;
      }
    }
    while (low < high) {
      const std::int64_t middle = low + (high - low + 1) / 2;
      if (horner(coefficients, degree, static_cast<Int>(middle)) <= target) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return low;
  }

  template <typename Int>
  void unrank_as(std::int64_t k, Coordinates& point) const {
    Int rest = static_cast<Int>(k);
    for (std::size_t l = 0; l < depth_; ++l) {
      const std::int64_t low = first_[l].value(point, l);
      if (l + 1 == depth_) {
        point[l] = low + static_cast<std::int64_t>(rest);
        return;
      }
      std::array<Int, kMaxVariables * 2> coefficients;
      const std::size_t degree = coefficients_at<Int>(l, point, coefficients);
      const Int denominator = static_cast<Int>(before_[l].denominator);
      point[l] = root<Int>(coefficients, degree, rest * denominator, low, last_[l].value(point, l));
      rest -= horner(coefficients, degree, static_cast<Int>(point[l])) / denominator;
    }
  }

  LoopsDescription description_;
  std::size_t depth_ = 0;
  std::vector<Affine> first_, last_;
  std::vector<CountsBefore> before_;
  // True if 64 bits suffice for all evaluations.
  bool is_small_ = true;
};

}  // namespace

std::variant<PointMapPtr, LoopFault> make_loop_map(const LoopNest& nest, const LoopCounts& counts,
                                                   std::span<const std::int64_t> parameters) {
  auto map = std::make_shared<LoopMap>();
  if (const auto fault = map->set_up(nest, counts, parameters)) return *fault;
  return PointMapPtr(std::move(map));
}

}  // namespace groma::domains
