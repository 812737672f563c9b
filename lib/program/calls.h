// The call graph of a program: used functions, recursion, and an order in which every function
// comes after the functions that it calls.
#pragma once

#include <vector>

#include "groma/diagnostics.h"
#include "program/data.h"
#include "syntax/tree.h"

namespace groma::program {

// What a name of the program stands for: a function or a global. All names share one name space.
struct Symbol {
  enum class Kind : std::uint8_t { kNone, kFunction, kGlobal };
  Kind kind = Kind::kNone;
  std::uint32_t index = 0;
};

// The functions and globals that a program defines. `symbols` is indexed by NameId, and `defs` by
// FunctionId.
struct ProgramDefinitions {
  std::vector<Symbol> symbols;
  std::vector<const syntax::DefStatement*> defs;
};

// The result of order_calls().
struct CallOrder {
  // Every function once, with callees before their callers.
  std::vector<FunctionId> order;
  // For each FunctionId: true if a statement or the top level uses the function, directly or
  // through calls.
  std::vector<bool> used;
};

// Orders the functions. Reports recursion and chains of more than kMaxCallDepth calls. The
// implementation is not recursive.
CallOrder order_calls(const syntax::Tree& tree, const ProgramDefinitions& definitions,
                      Diagnostics& diags);

}  // namespace groma::program
