// Finding the digits in a number's expression.
#include "mapper/point_form.h"

#include <algorithm>

namespace groma::mapper {

using Op = Expression::Op;

std::optional<PointForm> PointForm::make(const Expressions& expressions, ExprId id,
                                         const Rect& launch) {
  const Linear whole = expressions.linear(id);
  PointForm form;
  form.dimensions_ = launch.dimensions();
  for (int d = 0; d < launch.dimensions(); ++d) {
    form.sides_[static_cast<std::size_t>(d)] = {launch.lower[d],
                                                static_cast<std::uint64_t>(launch.extents[d]), 0};
  }
  form.constant_ = whole.constant;
  for (const Term& term : whole.terms) {
    if (!form.add_digit(expressions, term)) return std::nullopt;
  }
  return form;
}

bool PointForm::add_digit(const Expressions& expressions, const Term& term) {
  const auto divides = [](const Expression& e) {
    return e.op == Op::kDivideBy || e.op == Op::kModuloBy;
  };
  if (expressions[term.of].op == Op::kCoordinate) {
    sides_[expressions[term.of].a].factor += term.factor;
    return true;
  }
  Digit digit;
  digit.factor = term.factor;
  ExprId input = term.of;
  const Expression& outer = expressions[term.of];
  if (!divides(outer)) return false;
  input = outer.a;
  const Expression& inner = expressions[outer.a];
  if (divides(inner)) {
    if (inner.op == outer.op) return false;
    digit.kind = outer.op == Op::kDivideBy ? Kind::kQuotientOfRest : Kind::kRestOfQuotient;
    digit.first = inner.constant;
    digit.second = outer.constant;
    digit.by_second = Divider(outer.constant);
    input = inner.a;
  } else {
    digit.kind = outer.op == Op::kDivideBy ? Kind::kQuotient : Kind::kRest;
    digit.first = outer.constant;
  }
  digit.by_first = Divider(digit.first);
  const auto slot = slot_of(expressions, input);
  if (!slot) return false;
  digit.slot = *slot;
  digits_.push_back(digit);
  return true;
}

std::optional<std::uint8_t> PointForm::slot_of(const Expressions& expressions, ExprId id) {
  const Expression& expression = expressions[id];
  if (expression.op == Op::kCoordinate) return static_cast<std::uint8_t>(expression.a);
  if (expression.op != Op::kSum) return std::nullopt;
  for (const Input& known : inputs_) {
    if (known.of == id) return known.slot;
  }
  if (kMaxDimensions + inputs_.size() >= kSlots) return std::nullopt;
  Input input;
  input.slot = static_cast<std::uint8_t>(kMaxDimensions + inputs_.size());
  input.of = id;
  input.begin = static_cast<std::uint32_t>(factors_.size());
  input.constant = expression.constant;
  for (const Term& term : expressions.terms(expression)) {
    const Expression& of = expressions[term.of];
    if (of.op != Op::kCoordinate) return std::nullopt;
    factors_.push_back({term.factor, of.a});
    ++input.count;
  }
  inputs_.push_back(input);
  return input.slot;
}

}  // namespace groma::mapper
