// Evaluates expressions of the domain language.
#include "domain/expression.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace groma::domains {
namespace {

// Combines two integers. Returns kNone, or why there is no result.
FaultKind combine_integers(Operation operation, std::int64_t a, std::int64_t b,
                           std::int64_t* result) {
  constexpr std::int64_t kMostShift = 62;
  switch (operation) {
    case Operation::kAdd:
      return __builtin_add_overflow(a, b, result) ? FaultKind::kOverflow : FaultKind::kNone;
    case Operation::kSubtract:
      return __builtin_sub_overflow(a, b, result) ? FaultKind::kOverflow : FaultKind::kNone;
    case Operation::kMultiply:
      return __builtin_mul_overflow(a, b, result) ? FaultKind::kOverflow : FaultKind::kNone;
    case Operation::kDivide:
    case Operation::kRemainder:
      if (b == 0) return FaultKind::kDivisionByZero;
      if (b == -1) {
        if (operation == Operation::kRemainder) {
          *result = 0;
          return FaultKind::kNone;
        }
        return __builtin_sub_overflow(0, a, result) ? FaultKind::kOverflow : FaultKind::kNone;
      }
      *result = operation == Operation::kDivide ? floor_divide(a, b) : floor_remainder(a, b);
      return FaultKind::kNone;
    case Operation::kBitAnd:
      *result = a & b;
      return FaultKind::kNone;
    case Operation::kBitOr:
      *result = a | b;
      return FaultKind::kNone;
    case Operation::kBitXor:
      *result = a ^ b;
      return FaultKind::kNone;
    case Operation::kShiftLeft:
      if (b < 0 || b > kMostShift) return FaultKind::kShift;
      return __builtin_mul_overflow(a, std::int64_t{1} << b, result) ? FaultKind::kOverflow
                                                                     : FaultKind::kNone;
    case Operation::kShiftRight:
      if (b < 0 || b > kMostShift) return FaultKind::kShift;
      *result = a >> b;
      return FaultKind::kNone;
    case Operation::kMin:
      *result = std::min(a, b);
      return FaultKind::kNone;
    case Operation::kMax:
      *result = std::max(a, b);
      return FaultKind::kNone;
    default:
      break;
  }
  GROMA_CHECK(false);
}

}  // namespace

std::string words_of(FaultKind kind) {
  switch (kind) {
    case FaultKind::kNone:
      return "it has a value";
    case FaultKind::kDivisionByZero:
      return "it divides by zero";
    case FaultKind::kOverflow:
      return "its value does not fit 64 bits";
    case FaultKind::kIndex:
      return "its index is out of range";
    case FaultKind::kShift:
      return "it shifts by less than 0 or more than 62 bits";
    case FaultKind::kNoRoot:
      return "there is no such number";
    case FaultKind::kNotMonotone:
      return "the function below the root decreases";
    case FaultKind::kTooManySteps:
      return "its evaluation takes more than a million steps";
    case FaultKind::kTooManyStepsInAll:
      return "its evaluations for all points take more than 2^30 steps";
  }
  GROMA_CHECK(false);
}

std::int64_t floor_square_root(std::int64_t n) {
  auto root = static_cast<std::int64_t>(std::sqrt(static_cast<double>(n)));
  constexpr std::int64_t kLargest = 3037000499;  // the root of 2^63-1
  root = std::min(root, kLargest);
  while (root * root > n) --root;
  while (root < kLargest && (root + 1) * (root + 1) <= n) ++root;
  return root;
}

std::int64_t floor_cube_root(std::int64_t n) {
  auto root = static_cast<std::int64_t>(std::cbrt(static_cast<double>(n)));
  constexpr std::int64_t kLargest = 2097151;  // the cube root of 2^63-1
  root = std::min(root, kLargest);
  while (root * root * root > n) --root;
  while (root < kLargest && (root + 1) * (root + 1) * (root + 1) <= n) ++root;
  return root;
}

bool Evaluator::evaluate(const Expression& expression, std::span<const std::int64_t> given,
                         Value* value) {
  expression_ = &expression;
  fault_ = {};
  left_ = kMaxSteps;
  if (left_in_all_ < 0) return fail(FaultKind::kTooManyStepsInAll, expression.top());
  slots_.resize(static_cast<std::size_t>(expression.slots));
  std::copy(given.begin(), given.end(), slots_.begin());
  const bool done = run(expression.root, value);
  left_in_all_ -= kMaxSteps - left_;
  return done;
}

bool Evaluator::fail(FaultKind kind, const Node& node) {
  fault_ = {kind, node.range};
  return false;
}

bool Evaluator::run_scalar(std::uint32_t number, std::int64_t* value) {
  const Node& node = expression_->nodes[number];
  // Numbers and variables are most of all nodes.
  if (node.operation == Operation::kNumber) {
    *value = node.number;
    return true;
  }
  if (node.operation == Operation::kName) {
    *value = slots_[static_cast<std::size_t>(node.number)];
    return true;
  }
  Value whole;
  if (!run(number, &whole)) return false;
  *value = whole.items[0];
  return true;
}

bool Evaluator::combine(const Node& node, const Value& a, const Value& b, Value* value) {
  value->width = std::max(a.width, b.width);
  for (std::size_t i = 0; i < static_cast<std::size_t>(value->width); ++i) {
    const FaultKind fault = combine_integers(node.operation, a.items[a.width == 1 ? 0 : i],
                                             b.items[b.width == 1 ? 0 : i], &value->items[i]);
    if (fault != FaultKind::kNone) return fail(fault, node);
  }
  return true;
}

bool Evaluator::index(const Node& node, Value* value) {
  std::int64_t place = 0;
  if (!run_scalar(node.children[1], &place)) return false;
  const Node& whole = expression_->nodes[node.children[0]];
  if (whole.is_table) {
    if (place < 0 || place >= static_cast<std::int64_t>(whole.children.size())) {
      return fail(FaultKind::kIndex, node);
    }
    return run(whole.children[static_cast<std::size_t>(place)], value);
  }
  Value tuple;
  if (!run(node.children[0], &tuple)) return false;
  if (place < 0 || place >= tuple.width) return fail(FaultKind::kIndex, node);
  *value = {1, {tuple.items[static_cast<std::size_t>(place)]}};
  return true;
}

// Doubles an upper limit until the function exceeds the bound, then halves the interval.
bool Evaluator::root(const Node& node, Value* value) {
  std::int64_t bound = 0;
  if (!run_scalar(node.children[1], &bound)) return false;
  std::int64_t& variable = slots_[static_cast<std::size_t>(node.number)];
  std::int64_t low = 0, low_value = 0;
  variable = 0;
  if (!run_scalar(node.children[0], &low_value)) return false;
  if (low_value > bound) return fail(FaultKind::kNoRoot, node);
  // The function is above the bound at `high`. An overflow is taken for a value above the bound.
  std::int64_t high = 1;
  const auto exceeds = [&](std::int64_t at, bool* above) {
    std::int64_t now = 0;
    variable = at;
    if (!run_scalar(node.children[0], &now)) {
      if (fault_.kind != FaultKind::kOverflow) return false;
      fault_ = {};
      now = INT64_MAX;
    }
    if (now < low_value) return fail(FaultKind::kNotMonotone, node);
    *above = now > bound || (now == INT64_MAX && bound == INT64_MAX);
    if (!*above) {
      low = at;
      low_value = now;
    }
    return true;
  };
  bool above = false;
  while (true) {
    if (!exceeds(high, &above)) return false;
    if (above) break;
    if (high > INT64_MAX / 2) return fail(FaultKind::kNoRoot, node);
    high *= 2;
  }
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    if (!exceeds(middle, &above)) return false;
    if (above) high = middle;
  }
  *value = {1, {low}};
  return true;
}

bool Evaluator::fold(const Node& node, Value* value) {
  std::int64_t rest = 0, base = 0, digits = 0;
  if (!run_scalar(node.children[0], &rest) || !run_scalar(node.children[1], &base) ||
      !run_scalar(node.children[2], &digits) || !run(node.children[3], value)) {
    return false;
  }
  constexpr std::int64_t kMostDigits = 64;
  if (rest < 0 || base < 2 || digits < 0 || digits > kMostDigits) {
    return fail(FaultKind::kNoRoot, node);
  }
  const auto first = static_cast<std::size_t>(node.number);
  const auto width = static_cast<std::size_t>(value->width);
  for (std::int64_t i = 0; i < digits; ++i) {
    std::copy_n(value->items.begin(), value->width,
                slots_.begin() + static_cast<std::ptrdiff_t>(first));
    slots_[first + width] = rest % base;
    slots_[first + width + 1] = i;
    rest /= base;
    if (!run(node.children[4], value)) return false;
  }
  return true;
}

bool Evaluator::horner(const Node& node, Value* value) {
  std::int64_t base = 0, rest = 0, digits = 0;
  if (!run_scalar(node.children[0], &base) || !run_scalar(node.children[1], &rest) ||
      !run_scalar(node.children[2], &digits)) {
    return false;
  }
  const Node& table = expression_->nodes[node.children[3]];
  if (rest < 0 || digits < 2) return fail(FaultKind::kNoRoot, node);
  *value = {table.width, {}};
  std::int64_t weight = 1;
  while (rest > 0) {
    const std::int64_t digit = rest % digits;
    rest /= digits;
    Value entry;
    if (digit >= static_cast<std::int64_t>(table.children.size())) {
      return fail(FaultKind::kIndex, node);
    }
    if (!run(table.children[static_cast<std::size_t>(digit)], &entry)) return false;
    for (std::size_t i = 0; i < static_cast<std::size_t>(table.width); ++i) {
      std::int64_t part = 0;
      if (__builtin_mul_overflow(weight, entry.items[i], &part) ||
          __builtin_add_overflow(value->items[i], part, &value->items[i])) {
        return fail(FaultKind::kOverflow, node);
      }
    }
    if (rest > 0 && __builtin_mul_overflow(weight, base, &weight)) {
      return fail(FaultKind::kOverflow, node);
    }
  }
  // The digits above the highest one are 0, and so they would add T[0] without end if it is not 0.
  return true;
}

bool Evaluator::run(std::uint32_t number, Value* value) {
  const Node& node = expression_->nodes[number];
  if (--left_ < 0) return fail(FaultKind::kTooManySteps, node);
  const auto scalar = [value](std::int64_t result) {
    *value = {1, {result}};
    return true;
  };
  std::int64_t a = 0, b = 0;
  const auto first = [&] { return run_scalar(node.children[0], &a); };
  const auto both = [&] { return first() && run_scalar(node.children[1], &b); };
  switch (node.operation) {
    case Operation::kNumber:
      return scalar(node.number);
    case Operation::kName:
      value->width = node.width;
      std::copy_n(slots_.begin() + node.number, node.width, value->items.begin());
      return true;
    case Operation::kNegate: {
      if (!run(node.children[0], value)) return false;
      for (std::size_t i = 0; i < static_cast<std::size_t>(value->width); ++i) {
        if (__builtin_sub_overflow(0, value->items[i], &value->items[i])) {
          return fail(FaultKind::kOverflow, node);
        }
      }
      return true;
    }
    case Operation::kNot:
      return first() && scalar(a == 0 ? 1 : 0);
    case Operation::kComplement:
      return first() && scalar(~a);
    case Operation::kAdd:
    case Operation::kSubtract:
    case Operation::kMultiply:
    case Operation::kDivide:
    case Operation::kRemainder:
    case Operation::kBitAnd:
    case Operation::kBitOr:
    case Operation::kBitXor:
    case Operation::kShiftLeft:
    case Operation::kShiftRight:
    case Operation::kMin:
    case Operation::kMax: {
      if (node.width == 1) {
        if (!both()) return false;
        value->width = 1;
        const FaultKind fault = combine_integers(node.operation, a, b, value->items.data());
        return fault == FaultKind::kNone || fail(fault, node);
      }
      Value left, right;
      return run(node.children[0], &left) && run(node.children[1], &right) &&
             combine(node, left, right, value);
    }
    case Operation::kLess:
      return both() && scalar(a < b ? 1 : 0);
    case Operation::kLessEqual:
      return both() && scalar(a <= b ? 1 : 0);
    case Operation::kEqual:
      return both() && scalar(a == b ? 1 : 0);
    case Operation::kNotEqual:
      return both() && scalar(a != b ? 1 : 0);
    case Operation::kAnd:
      if (!first()) return false;
      if (a == 0) return scalar(0);
      return run_scalar(node.children[1], &b) && scalar(b != 0 ? 1 : 0);
    case Operation::kOr:
      if (!first()) return false;
      if (a != 0) return scalar(1);
      return run_scalar(node.children[1], &b) && scalar(b != 0 ? 1 : 0);
    case Operation::kSelect:
      return first() && run(node.children[a != 0 ? 1 : 2], value);
    case Operation::kTuple: {
      Value tuple;
      tuple.width = node.width;
      for (std::size_t i = 0; i < node.children.size(); ++i) {
        if (!run_scalar(node.children[i], &tuple.items[i])) return false;
      }
      *value = tuple;
      return true;
    }
    case Operation::kIndex:
      return index(node, value);
    case Operation::kTable:
      break;
    case Operation::kLet:
      if (!run(node.children[0], value)) return false;
      std::copy_n(value->items.begin(), value->width, slots_.begin() + node.number);
      return run(node.children[1], value);
    case Operation::kAbs:
      if (!first()) return false;
      return a == INT64_MIN ? fail(FaultKind::kOverflow, node) : scalar(a < 0 ? -a : a);
    case Operation::kSquareRoot:
      if (!first()) return false;
      return a < 0 ? fail(FaultKind::kNoRoot, node) : scalar(floor_square_root(a));
    case Operation::kCubeRoot:
      if (!first()) return false;
      return a < 0 ? fail(FaultKind::kNoRoot, node) : scalar(floor_cube_root(a));
    case Operation::kLogarithm: {
      if (!both()) return false;
      if (a < 2 || b < 1) return fail(FaultKind::kNoRoot, node);
      std::int64_t power = 0;
      while (b >= a) {
        b /= a;
        ++power;
      }
      return scalar(power);
    }
    case Operation::kBitCount:
      return first() && scalar(std::popcount(static_cast<std::uint64_t>(a)));
    case Operation::kRoot:
      return root(node, value);
    case Operation::kFold:
      return fold(node, value);
    case Operation::kHorner:
      return horner(node, value);
  }
  GROMA_CHECK(false);
}

}  // namespace groma::domains
