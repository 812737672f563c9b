// Writes the operators of the language in C++. Operands and results are expressions. If an operand
// can only fail, the result is that operand.
#pragma once

#include "emit/cpp_expression.h"
#include "program/data.h"

namespace groma::emitting {

// Returns `-value` for an integer or for each item of a tuple.
Expr negate(Emission& emission, const Expr& value);
// Returns `!value`.
Expr negate_truth(const Expr& value);
// Returns an arithmetic operator or a comparison. `range` is the place of the expression.
Expr binary(Emission& emission, program::Op op, Range range, const Expr& left, const Expr& right);
// Returns `&&` or `||`. The right side may be an expression that can only fail, since it may not
// run.
Expr logical(program::Op op, const Expr& left, const Expr& right);
// Returns `condition ? yes : no`. A side that can only fail takes the type of the other side.
Expr conditional(Emission& emission, Range range, const Expr& condition, const Expr& yes,
                 const Expr& no);

// Returns nothing if the left side of `&&` or `||`, or the condition of `?:`, is a bool. Otherwise
// returns the failure; the other operands are then not evaluated.
std::optional<Expr> failure_of_left(program::Op op, const Expr& left);
std::optional<Expr> failure_of_condition(const Expr& condition);

}  // namespace groma::emitting
