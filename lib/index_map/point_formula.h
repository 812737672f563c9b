// PointFormula: a number as a sum of digits x / a, x % a, x % a / b and x / a % b, where x is one
// coordinate or a weighted sum of several. Maps by blocks and cycles have this form. Evaluating a
// point takes at most one or two multiplications for each digit.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "groma/geometry.h"
#include "index_map/expressions.h"
#include "index_map/kernel.h"

namespace groma::mapper {

inline constexpr std::string_view kPointInside =
    "the point must lie inside the domain of the index map";

// A processor number in a form that is quick to evaluate at one point.
class PointFormula {
 public:
  // Makes the formula of the expression `id` for a launch that has points. Returns nullopt if the
  // expression is not a sum of coordinates and digits.
  static std::optional<PointFormula> make(const ExpressionGraph& expressions, ExprId id,
                                          const Rect& launch);

  // Evaluates the number at a point of the launch. The process ends for any other point.
  using Evaluation = std::int64_t (*)(const PointFormula& form, const Point& point);
  Evaluation evaluation_method() const { return evaluate_; }

 private:
  static constexpr std::size_t kSlots = kMaxDimensions + 4;
  // One dimension of the launch.
  struct LaunchDimension {
    std::int64_t lower = 0;
    std::uint64_t extent = 0;
    // The factor with which the coordinate is added to the number.
    std::int64_t factor = 0;
  };
  enum class Kind : std::uint8_t { kQuotient, kRest, kQuotientOfRest, kRestOfQuotient };
  // A quotient or remainder of a number (a digit): its operations, and the value to which they are
  // applied.
  struct FormulaDigit {
    Kind kind = Kind::kQuotient;
    std::uint8_t slot = 0;
    std::int64_t factor = 0;
    // The dividend of the digit is scale * (value of the slot) + offset.
    std::int64_t scale = 1, offset = 0;
    // The divisors of the digit, in the order of its operations. `second` is 0 if there is only
    // one.
    std::int64_t first = 0, second = 0;
    ConstantDivider by_first, by_second;
  };
  // A weighted sum of several coordinates, from which digits are taken.
  struct DigitInput {
    std::size_t slot = 0;
    std::array<std::int64_t, kMaxDimensions> factors{};
  };

  static std::int64_t digit_value(Kind kind, const FormulaDigit& digit, std::int64_t slot) {
    const std::int64_t x = slot * digit.scale + digit.offset;
    const std::int64_t quotient = digit.by_first.quotient(x);
    if (kind == Kind::kQuotient) return quotient;
    if (kind == Kind::kRestOfQuotient) {
      return quotient - digit.by_second.quotient(quotient) * digit.second;
    }
    const std::int64_t rest = x - quotient * digit.first;
    return kind == Kind::kRest ? rest : digit.by_second.quotient(rest);
  }

  // Template arguments are numbers of dimensions and digits that are known at compile time; -1 and
  // kAnyDigits mean unknown. With a known number of digits there is no DigitInput.
  static constexpr std::size_t kAnyDigits = SIZE_MAX;
  template <int kFixedDimensions, std::size_t kDigits>
  static std::int64_t number_at(const PointFormula& form, const Point& point);
  template <Kind kKind>
  static std::int64_t number_from_single_digit(const PointFormula& form, const Point& point);
  static std::int64_t number_by_block_formula(const PointFormula& form, const Point& point);
  bool try_block_formula();
  void choose_evaluation_method();
  bool add_digit(const ExpressionGraph& expressions, const SumTerm& term);
  bool set_digit_input(const ExpressionGraph& expressions, const LinearSum& whole,
                       FormulaDigit& digit);

  Evaluation evaluate_ = nullptr;
  int dimensions_ = 0;
  std::int64_t constant_ = 0;
  std::array<LaunchDimension, kMaxDimensions> launch_dimensions_{};
  // The multiplier that try_block_formula() computes.
  std::uint64_t block_multiplier_ = 0;
  std::vector<FormulaDigit> digits_;
  std::vector<DigitInput> inputs_;
};

}  // namespace groma::mapper
