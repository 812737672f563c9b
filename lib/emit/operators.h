// Translates the operators of the mapping language to C++. Operands and results are expressions. If
// an operand can only fail, the result is that operand.
#pragma once

#include "emit/cpp_expression.h"
#include "program/data.h"

namespace groma::emitting {

// Returns the C++ for `-value`, where the value is an integer or a tuple.
CppExpr negate_expr(EmissionOutput& emission, const CppExpr& value);
// Returns the C++ for `!value`, where the value is a bool.
CppExpr logical_not_expr(const CppExpr& value);
// Returns the C++ for an arithmetic operator or a comparison. `range` is the place of the
// expression in the source.
CppExpr binary_expr(EmissionOutput& emission, program::Op op, Range range, const CppExpr& left,
                    const CppExpr& right);
// Returns the C++ for `&&` or `||`. The right side may be an expression that can only fail, since
// it may not be evaluated.
CppExpr logical_expr(program::Op op, const CppExpr& left, const CppExpr& right);
// Returns the C++ for `condition ? yes : no`. A side that can only fail takes the type of the other
// side.
CppExpr conditional_expr(EmissionOutput& emission, Range range, const CppExpr& condition,
                         const CppExpr& yes, const CppExpr& no);

// Return nothing if the left side of `&&` or `||`, or the condition of `?:`, is a bool. Otherwise
// return the expression that fails; the other operands are then not evaluated.
std::optional<CppExpr> failure_of_left_operand(program::Op op, const CppExpr& left);
std::optional<CppExpr> failure_of_condition(const CppExpr& condition);

}  // namespace groma::emitting
