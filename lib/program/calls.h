// Which function calls which: what is used, what recurses, and an order in which every function
// comes after those that it calls.
#pragma once

#include <vector>

#include "groma/diagnostics.h"
#include "program/data.h"
#include "syntax/tree.h"

namespace groma::program {

// What a name of the program's one name space stands for.
struct Symbol {
  enum class Kind : std::uint8_t { kNone, kFunction, kGlobal };
  Kind kind = Kind::kNone;
  std::uint32_t index = 0;
};

// The definitions of a tree: `symbols` by NameId, `defs` by FunctionId.
struct Definitions {
  std::vector<Symbol> symbols;
  std::vector<const syntax::DefStatement*> defs;
};

struct CallOrder {
  std::vector<FunctionId> order;  // callees first, every function once
  std::vector<bool> used;         // by FunctionId: reached from a statement
};

// Reports recursion and chains of more than kMaxCallDepth calls. Takes no recursion itself.
CallOrder order_calls(const syntax::Tree& tree, const Definitions& definitions, Diagnostics& diags);

}  // namespace groma::program
