// Ranks and unranks the points of nested loops by polynomials and their exact integer roots.
#include "domain/loop_map.h"

#include <algorithm>
#include <array>

#include "domain/count_row.h"
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
};

// An affine function whose values fit 64 bits, so that sums may wrap around on the way.
class LoopBound {
 public:
  explicit LoopBound(const Affine& affine)
      : constant_(static_cast<std::uint64_t>(affine.constant)) {
    for (std::size_t i = 0; i < affine.factors.size(); ++i) {
      if (affine.factors[i] == 0) continue;
      terms_[count_++] = {i, static_cast<std::uint64_t>(affine.factors[i])};
    }
  }
  bool is_constant() const { return count_ == 0; }
  std::int64_t value(const std::int64_t* counters) const {
    std::uint64_t sum = constant_;
    for (std::size_t i = 0; i < count_; ++i) {
      sum += terms_[i].factor * static_cast<std::uint64_t>(counters[terms_[i].counter]);
    }
    return static_cast<std::int64_t>(sum);
  }

 private:
  struct Term {
    std::size_t counter = 0;
    std::uint64_t factor = 0;
  };
  std::uint64_t constant_;
  std::size_t count_ = 0;
  std::array<Term, kMaxDimensions> terms_{};
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

// Returns nullopt if a coefficient is not of moderate size.
std::optional<Affine> as_affine(const LinearForm& form) {
  const auto is_moderate = [](Int128 number) {
    return number <= kMostFactor && number >= -kMostFactor;
  };
  if (!is_moderate(form.constant) ||
      !std::all_of(form.factors.begin(), form.factors.end(), is_moderate)) {
    return std::nullopt;
  }
  Affine affine;
  affine.constant = form.constant;
  std::copy_n(form.factors.begin(), affine.factors.size(), affine.factors.begin());
  return affine;
}

// The number of points before a counter: a polynomial in the counter whose coefficients are
// polynomials in the outer counters, all multiplied by the common denominator of the map.
struct CountsBefore {
  struct Term {
    Int128 factor = 0;
    std::array<std::uint8_t, kMaxDimensions> exponents{};
  };
  // By the exponent of the counter.
  std::vector<std::vector<Term>> coefficients;
  // True if no coefficient has an outer counter; then the rows are known.
  bool is_fixed = true;
  CountRow<std::int64_t> small_row;
  CountRow<Int128> row;
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
      const auto first_form = first->as_linear_form(), end_form = end->as_linear_form();
      if (!first_form || !end_form) return LoopFault{LoopFault::Kind::kNotAffine, l};
      const auto low = as_affine(*first_form), high = as_affine(*end_form);
      if (!low || !high) return LoopFault{LoopFault::Kind::kTooLarge, l};
      description_.first.push_back(*first);
      description_.end.push_back(*end);
      first_.push_back(*low);
      last_.push_back(*high);
      last_.back().constant -= 1;
      // The extremes over the outer loops, which are set up already.
      if (const auto fault = check_bounds(l)) return fault;
      firsts_.emplace_back(first_.back());
      lasts_.emplace_back(last_.back());
    }
    std::vector<Polynomial> all_before;
    for (std::size_t l = 0; l < depth_; ++l) {
      const auto before = with_parameters(counts.before[l], parameters, depth_);
      const auto below = before ? before->denominator() : std::nullopt;
      if (!below || !multiply_denominator(*below)) return LoopFault{LoopFault::Kind::kTooLarge, l};
      all_before.push_back(*before);
    }
    description_.before = all_before;
    for (std::size_t l = 0; l < depth_; ++l) {
      if (!compile(all_before[l], l)) return LoopFault{LoopFault::Kind::kTooLarge, l};
    }
    const auto all = with_parameters(counts.inside[0], parameters, depth_);
    const auto total = all ? all->as_constant() : std::nullopt;
    if (!total || total->numerator > INT64_MAX) return LoopFault{LoopFault::Kind::kTooLarge, 0};
    count_ = static_cast<std::int64_t>(total->numerator);
    if (!fits()) return LoopFault{LoopFault::Kind::kTooLarge, 0};
    divisor_ = ExactDivisor(denominator_);
    for (std::size_t l = 0; l < depth_; ++l) prepare(l);
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
    for (std::size_t l = 0; l < depth_; ++l) {
      // Coordinates outside of the bounds could overflow.
      if (point[l] < lower_[l] || point[l] > upper_[l] ||
          point[l] < firsts_[l].value(point.data()) || point[l] > lasts_[l].value(point.data())) {
        return -1;
      }
    }
    return is_small_ ? rank_as<std::int64_t>(point) : rank_as<Int128>(point);
  }

  // Finds the first point by its number and the others by counting up the loops.
  void unrank_many(std::int64_t k, std::size_t count, std::int64_t* out) const override {
    Coordinates point;
    for (std::size_t done = 0; done < count;) {
      unrank(k + static_cast<std::int64_t>(done), point);
      do {
        // The points up to the end of the innermost loop, one coordinate after the other.
        const std::size_t inner = depth_ - 1;
        const std::int64_t length = lasts_[inner].value(point.data()) - point[inner] + 1;
        const auto here =
            static_cast<std::size_t>(std::min(static_cast<std::int64_t>(count - done), length));
        for (std::size_t l = 0; l < inner; ++l) {
          const std::int64_t counter = point[l];
          for (std::size_t i = 0; i < here; ++i) out[i * depth_ + l] = counter;
        }
        const std::int64_t first = point[inner];
        for (std::size_t i = 0; i < here; ++i) {
          out[i * depth_ + inner] = first + static_cast<std::int64_t>(i);
        }
        point[inner] += static_cast<std::int64_t>(here);
        out += here * depth_;
        done += here;
      } while (done < count && next_row(point));
    }
  }

  Proof proof() const override {
    return {Proof::Kind::kPolynomial,
            "the polynomials that count the points satisfy their recursion identically, and no "
            "loop has a negative length for these parameters"};
  }
  MapDescription describe() const override { return {description_}; }

  std::optional<std::vector<Box>> boxes() const override {
    if (count_ == 0) return std::vector<Box>{};
    if (loop_order().empty()) return std::nullopt;
    return std::vector<Box>{{lower_, upper_}};
  }
  std::vector<std::size_t> loop_order() const override {
    std::vector<std::size_t> order;
    for (std::size_t l = 0; l < depth_; ++l) {
      if (!firsts_[l].is_constant() || !lasts_[l].is_constant()) return {};
      order.push_back(l);
    }
    return order;
  }

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

  // Makes the common denominator a multiple of another one.
  bool multiply_denominator(Int128 other) {
    constexpr Int128 kMost = Int128{1} << 60;
    const Int128 factor = other / greatest_common_divisor(denominator_, other);
    if (factor > kMost || factor > kMost / denominator_) return false;
    denominator_ *= static_cast<std::int64_t>(factor);
    return true;
  }

  bool compile(const Polynomial& before, std::size_t l) {
    CountsBefore counts;
    counts.coefficients.resize(static_cast<std::size_t>(before.degree(l)) + 1);
    for (const auto& [exponents, coefficient] : before.terms()) {
      CountsBefore::Term term;
      if (__builtin_mul_overflow(coefficient.numerator, denominator_ / coefficient.denominator,
                                 &term.factor)) {
        return false;
      }
      std::copy_n(exponents.begin(), l, term.exponents.begin());
      counts.is_fixed = counts.is_fixed && std::all_of(exponents.begin(), exponents.begin() + l,
                                                       [](int each) { return each == 0; });
      counts.coefficients[exponents[l]].push_back(term);
    }
    before_.push_back(std::move(counts));
    return true;
  }

  // Computes the rows that depend on no outer counter.
  void prepare(std::size_t l) {
    if (!before_[l].is_fixed) return;
    if (is_small_) {
      evaluate(l, nullptr, before_[l].small_row);
      before_[l].small_row.prepare();
    } else {
      evaluate(l, nullptr, before_[l].row);
      before_[l].row.prepare();
    }
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
      const Int128 scaled = Int128{denominator_} * count_;
      is_small_ = is_small_ && sum < kSmall && scaled < kSmall;
    }
    return true;
  }

  // Writes the coefficients of the count before the counter of loop `l` for these outer counters.
  template <typename Int>
  void evaluate(std::size_t l, const std::int64_t* point, CountRow<Int>& row) const {
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
      row.coefficients[e] = sum;
    }
    row.degree = terms.size() - 1;
    while (row.degree > 0 && row.coefficients[row.degree] == 0) --row.degree;
  }
  template <typename Int>
  const CountRow<Int>& fixed_row(std::size_t l) const {
    if constexpr (sizeof(Int) == sizeof(std::int64_t)) {
      return before_[l].small_row;
    } else {
      return before_[l].row;
    }
  }
  // Returns the row of loop `l` for these outer counters: a fixed one, or `*space`.
  template <typename Int>
  const CountRow<Int>& row_at(std::size_t l, const std::int64_t* point,
                              CountRow<Int>& space) const {
    if (before_[l].is_fixed) return fixed_row<Int>(l);
    evaluate(l, point, space);
    return space;
  }

  template <typename Int>
  std::int64_t rank_as(const Coordinates& point) const {
    Int sum = 0;
    CountRow<Int> space;
    for (std::size_t l = 0; l < depth_; ++l) {
      sum += row_at<Int>(l, point.data(), space).value(point[l]);
    }
    return divisor_.quotient(sum);
  }

  template <typename Int>
  void unrank_as(std::int64_t k, Coordinates& point) const {
    Int rest = static_cast<Int>(k) * denominator_;
    CountRow<Int> space;
    for (std::size_t l = 0; l + 1 < depth_; ++l) {
      const CountRow<Int>& row = row_at<Int>(l, point.data(), space);
      if (&row == &space) space.prepare();
      Int below = 0;
      point[l] =
          row.root(rest, firsts_[l].value(point.data()), lasts_[l].value(point.data()), &below);
      rest -= below;
    }
    point[depth_ - 1] = firsts_[depth_ - 1].value(point.data()) + divisor_.quotient(rest);
  }

  // Goes from the end of the innermost loop to the first iteration of its next run. Returns false
  // if that takes many steps because inner loops are empty.
  bool next_row(Coordinates& point) const {
    constexpr int kMaxSteps = 64;
    std::size_t l = depth_ - 1;
    for (int steps = 0; steps < kMaxSteps; ++steps) {
      // Loop `l` has ended.
      if (l == 0) return false;
      --l;
      if (point[l] >= lasts_[l].value(point.data())) continue;
      ++point[l];
      do {
        ++l;
        point[l] = firsts_[l].value(point.data());
      } while (l + 1 < depth_ && point[l] <= lasts_[l].value(point.data()));
      if (point[l] <= lasts_[l].value(point.data())) return true;
    }
    return false;
  }

  LoopsDescription description_;
  std::size_t depth_ = 0;
  std::vector<Affine> first_, last_;
  std::vector<LoopBound> firsts_, lasts_;
  std::vector<CountsBefore> before_;
  // The common denominator of all counts, and the division by it.
  std::int64_t denominator_ = 1;
  ExactDivisor divisor_;
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
