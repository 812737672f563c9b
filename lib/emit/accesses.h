// Translates to C++ the expressions that read a part of a value: indices, members and methods.
// Operands and results are expressions that can have a value.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "emit/cpp_expression.h"
#include "program/data.h"

namespace groma::emitting {

// Returns the C++ for an item of a tuple, or for the processors of a machine at an index. `base` is
// a tuple, a processor or a machine.
CppExpr index_expr(EmissionOutput& emission, Range range, const CppExpr& base,
                   const std::vector<CppListItem>& items);
// Returns the C++ for a call of a method: `has` of a processor, `processor` of a task, or an
// operation on a machine. `option` (may be empty) translates the value of the call's option. It is
// called once the arguments are right.
CppExpr method_expr(EmissionOutput& emission, program::Method method, const CppExpr& base,
                    const std::vector<CppExpr>& args, const std::function<CppExpr()>& option);
// Returns the C++ for a member of a task, a tuple, a processor or a machine.
CppExpr member_expr(EmissionOutput& emission, program::Member member, const CppExpr& base);

}  // namespace groma::emitting
