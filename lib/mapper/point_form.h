// PointForm: a number as a sum of digits of the coordinates, x / a, x % a, x % a / b and x / a % b:
// what maps by blocks and cycles come to. A point takes no more than a multiplication or two for
// each.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "groma/geometry.h"
#include "mapper/expressions.h"
#include "mapper/kernel.h"

namespace groma::mapper {

class PointForm {
 public:
  // Nothing where `id` is no such sum.
  static std::optional<PointForm> make(const Expressions& expressions, ExprId id);

  // Of coordinates from the launch's lower corner, which have `kSlots` places.
  static constexpr std::size_t kSlots = kMaxDimensions + 4;
  std::int64_t evaluate(std::int64_t* slots) const {
    for (const Input& input : inputs_) {
      std::int64_t sum = input.constant;
      for (std::uint32_t i = 0; i < input.count; ++i) {
        const Factor& factor = factors_[input.begin + i];
        sum += factor.factor * slots[factor.dimension];
      }
      slots[input.slot] = sum;
    }
    std::int64_t sum = constant_;
    for (const Digit& digit : digits_) sum += digit.factor * value(digit, slots[digit.slot]);
    return sum;
  }

 private:
  enum class Kind : std::uint8_t { kItself, kQuotient, kRest, kQuotientOfRest, kRestOfQuotient };
  struct Digit {
    Kind kind = Kind::kItself;
    std::uint8_t slot = 0;
    std::int64_t factor = 0, first = 0, second = 0;  // the divisors in their order
    Divider by_first, by_second;
  };
  // A sum of coordinates that digits are taken of.
  struct Input {
    std::uint8_t slot = 0;
    std::uint32_t begin = 0, count = 0;
    std::int64_t constant = 0;
    ExprId of = 0;
  };
  struct Factor {
    std::int64_t factor;
    int dimension;
  };

  static std::int64_t value(const Digit& digit, std::int64_t x) {
    if (digit.kind == Kind::kItself) return x;
    const std::int64_t quotient = digit.by_first.quotient(x);
    if (digit.kind == Kind::kQuotient) return quotient;
    if (digit.kind == Kind::kRestOfQuotient) {
      return quotient - digit.by_second.quotient(quotient) * digit.second;
    }
    const std::int64_t rest = x - quotient * digit.first;
    return digit.kind == Kind::kRest ? rest : digit.by_second.quotient(rest);
  }

  bool add_digit(const Expressions& expressions, const Term& term);
  std::optional<std::uint8_t> slot_of(const Expressions& expressions, ExprId id);

  std::int64_t constant_ = 0;
  std::vector<Digit> digits_;
  std::vector<Input> inputs_;
  std::vector<Factor> factors_;
};

}  // namespace groma::mapper
