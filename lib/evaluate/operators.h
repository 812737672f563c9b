// Applies the arithmetic and comparing operators of the language to values.
#pragma once

#include "evaluate/evaluation.h"

namespace groma::mapper {

// An operator of an expression, with its range and the ranges of its operands in the program, to
// which errors point.
struct OperatorUse {
  program::Op op;
  // The range of the whole expression.
  Range range;
  Range sign;
  Range left, right;
};

// Returns the result of `left OP right`; monostate after a failure. Arithmetic applies to integers,
// to the items of two tuples of one length, or to an integer and each item. Negation is kNegate
// with 0 on the left.
ProgramValue apply_operator(Evaluation& run, const OperatorUse& op, const ProgramValue& left,
                            const ProgramValue& right);

}  // namespace groma::mapper
