// Finds the digits in the expression of a processor number, and evaluates them at a point. A digit
// is a quotient or a remainder of a coordinate or of a sum of coordinates, by constants.
#include "index_map/point_formula.h"

#include <algorithm>

namespace groma::mapper {

using Op = Expression::Op;

// Returns the number at a point. The template arguments are numbers of dimensions and digits that
// are known at compile time, so that the loops can be unrolled.
template <int kFixedDimensions, std::size_t kDigits>
std::int64_t PointFormula::number_at(const PointFormula& form, const Point& point) {
  const int dimensions = kFixedDimensions >= 0 ? kFixedDimensions : form.dimensions_;
  std::array<std::int64_t, kSlots> slots;  // NOLINT: only items that were written are read
  std::int64_t sum = form.constant_;
  bool inside = point.dimensions() == dimensions;
  for (int d = 0; d < dimensions; ++d) {
    const auto i = static_cast<std::size_t>(d);
    const LaunchDimension& side = form.launch_dimensions_[i];
    const std::uint64_t x =
        static_cast<std::uint64_t>(point[d]) - static_cast<std::uint64_t>(side.lower);
    inside = inside & (x < side.extent);
    slots[i] = static_cast<std::int64_t>(x);
    sum += side.factor * slots[i];
  }
  GROMA_REQUIRE(inside, kPointInside);
  // Behind the coordinates, `slots` holds sums of several coordinates.
  if (kDigits == kAnyDigits) {
    for (const DigitInput& input : form.inputs_) {
      std::int64_t of = 0;
      for (std::size_t i = 0; i < static_cast<std::size_t>(dimensions); ++i) {
        of += input.factors[i] * slots[i];
      }
      slots[input.slot] = of;
    }
  }
  const std::size_t count = kDigits != kAnyDigits ? kDigits : form.digits_.size();
  const FormulaDigit* const digits = form.digits_.data();
  for (std::size_t i = 0; i < count; ++i) {
    sum += digits[i].factor * digit_value(digits[i].kind, digits[i], slots[digits[i].slot]);
  }
  return sum;
}

// Returns the number at a point of a 1-D launch, for a form with a single digit of its coordinate.
template <PointFormula::Kind kKind>
std::int64_t PointFormula::number_from_single_digit(const PointFormula& form, const Point& point) {
  const LaunchDimension& side = form.launch_dimensions_[0];
  const std::uint64_t x =
      static_cast<std::uint64_t>(point[0]) - static_cast<std::uint64_t>(side.lower);
  GROMA_REQUIRE((point.dimensions() == 1) & (x < side.extent), kPointInside);
  const auto at = static_cast<std::int64_t>(x);
  const FormulaDigit& digit = form.digits_.front();
  return form.constant_ + side.factor * at + digit.factor * digit_value(kKind, digit, at);
}

// Returns true, and sets `block_multiplier_`, if the form is x * s / d alone: the blocks of a 1-D
// launch.
//
// Let m = ceil(s * 2^64 / d). Then x * m / 2^64 exceeds the quotient by less than x * d / (d *
// 2^64). So it rounds down to the quotient if x * d < 2^64.
bool PointFormula::try_block_formula() {
  __extension__ typedef unsigned __int128 Wide;
  if (dimensions_ != 1 || digits_.size() != 1 || launch_dimensions_[0].factor != 0) return false;
  const FormulaDigit& digit = digits_[0];
  const auto divisor = static_cast<std::uint64_t>(digit.first);
  const bool plain = digit.kind == Kind::kQuotient && digit.offset == 0 && digit.scale > 0 &&
                     digit.scale < digit.first;
  if (!plain || Wide{launch_dimensions_[0].extent} * divisor >> 64 != 0) return false;
  const Wide scaled = Wide{static_cast<std::uint64_t>(digit.scale)} << 64;
  block_multiplier_ = static_cast<std::uint64_t>((scaled + divisor - 1) / divisor);
  return true;
}

// Returns the number at a point of a 1-D launch cut into blocks, with one multiplication instead of
// a multiplication and a division.
std::int64_t PointFormula::number_by_block_formula(const PointFormula& form, const Point& point) {
  __extension__ typedef unsigned __int128 Wide;
  const LaunchDimension& side = form.launch_dimensions_[0];
  const std::uint64_t x =
      static_cast<std::uint64_t>(point[0]) - static_cast<std::uint64_t>(side.lower);
  GROMA_REQUIRE((point.dimensions() == 1) & (x < side.extent), kPointInside);
  const auto quotient = static_cast<std::int64_t>(Wide{form.block_multiplier_} * x >> 64);
  return form.constant_ + form.digits_.front().factor * quotient;
}

// Chooses the fastest function that can evaluate this formula.
void PointFormula::choose_evaluation_method() {
  if (try_block_formula()) {
    evaluate_ = number_by_block_formula;
  } else if (dimensions_ == 1 && inputs_.empty() && digits_.size() == 1) {
    constexpr std::array kAt = {number_from_single_digit<Kind::kQuotient>,
                                number_from_single_digit<Kind::kRest>,
                                number_from_single_digit<Kind::kQuotientOfRest>,
                                number_from_single_digit<Kind::kRestOfQuotient>};
    evaluate_ = kAt[static_cast<std::size_t>(digits_[0].kind)];
  } else if (dimensions_ == 1 && inputs_.empty() && digits_.size() <= 2) {
    constexpr std::array kAt = {number_at<1, 0>, number_at<1, 0>, number_at<1, 2>};
    evaluate_ = kAt[digits_.size()];
  } else {
    constexpr std::array kAt = {number_at<-1, kAnyDigits>, number_at<1, kAnyDigits>,
                                number_at<2, kAnyDigits>, number_at<3, kAnyDigits>};
    evaluate_ = kAt[dimensions_ <= 3 ? static_cast<std::size_t>(dimensions_) : 0];
  }
}

// Returns the point formula of an expression, or nothing if a term of its sum is neither a
// coordinate nor a digit.
std::optional<PointFormula> PointFormula::make(const ExpressionGraph& expressions, ExprId id,
                                               const Rect& launch) {
  const LinearSum whole = expressions.as_linear_sum(id);
  PointFormula form;
  form.dimensions_ = launch.dimensions();
  for (int d = 0; d < launch.dimensions(); ++d) {
    form.launch_dimensions_[static_cast<std::size_t>(d)] = {
        launch.lower[d], static_cast<std::uint64_t>(launch.extents[d]), 0};
  }
  form.constant_ = whole.constant;
  for (const SumTerm& term : whole.terms) {
    if (!form.add_digit(expressions, term)) return std::nullopt;
  }
  form.choose_evaluation_method();
  return form;
}

// Adds one term. Returns false if the term is neither a coordinate nor a digit.
bool PointFormula::add_digit(const ExpressionGraph& expressions, const SumTerm& term) {
  const Expression& outer = expressions[term.of];
  if (outer.op == Op::kCoordinate) {
    launch_dimensions_[outer.a].factor += term.factor;
    return true;
  }
  if (outer.op != Op::kDivideBy && outer.op != Op::kModuloBy) return false;
  const Expression& inner = expressions[outer.a];
  const auto fraction = expressions.as_fraction(outer.a);
  FormulaDigit digit;
  digit.factor = term.factor;
  // `input` is the dividend of the digit. The order of the cases matters: a quotient of a remainder
  // and a remainder of a quotient have two divisors.
  LinearSum input;
  if (outer.op == Op::kDivideBy && inner.op == Op::kModuloBy) {
    digit.kind = Kind::kQuotientOfRest;
    digit.first = inner.constant;
    digit.second = outer.constant;
    input = expressions.as_linear_sum(inner.a);
  } else if (outer.op == Op::kModuloBy && fraction) {
    digit.kind = Kind::kRestOfQuotient;
    digit.first = fraction->denominator;
    digit.second = outer.constant;
    input = fraction->numerator;
  } else {
    digit.kind = outer.op == Op::kDivideBy ? Kind::kQuotient : Kind::kRest;
    digit.first = outer.constant;
    input = expressions.as_linear_sum(outer.a);
  }
  digit.by_first = ConstantDivider(digit.first);
  if (digit.second > 0) digit.by_second = ConstantDivider(digit.second);
  if (!set_digit_input(expressions, input, digit)) return false;
  digits_.push_back(digit);
  return true;
}

// Sets the input of a digit: one coordinate, or a sum of several, which is computed once for all
// digits that use it. Returns false if the digit depends on anything else, or if there are too many
// sums.
bool PointFormula::set_digit_input(const ExpressionGraph& expressions, const LinearSum& whole,
                                   FormulaDigit& digit) {
  digit.offset = whole.constant;
  DigitInput input;
  for (const SumTerm& term : whole.terms) {
    const Expression& of = expressions[term.of];
    if (of.op != Op::kCoordinate) return false;
    input.factors[of.a] += term.factor;
  }
  const auto& factors = input.factors;
  const auto is_used = [](std::int64_t factor) { return factor != 0; };
  if (std::count_if(factors.begin(), factors.end(), is_used) == 1) {
    const auto only = std::find_if(factors.begin(), factors.end(), is_used);
    digit.scale = *only;
    digit.slot = static_cast<std::uint8_t>(only - factors.begin());
    return true;
  }
  digit.scale = 1;
  const auto known = std::find_if(inputs_.begin(), inputs_.end(),
                                  [&](const DigitInput& each) { return each.factors == factors; });
  input.slot = kMaxDimensions + static_cast<std::size_t>(known - inputs_.begin());
  if (input.slot >= kSlots) return false;
  digit.slot = static_cast<std::uint8_t>(input.slot);
  if (known == inputs_.end()) inputs_.push_back(input);
  return true;
}

}  // namespace groma::mapper
