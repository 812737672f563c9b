// CppExpr: an expression of the emitted C++ with its type. The functions in this file combine
// expressions.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "emit/cpp.h"
#include "groma/diagnostics.h"

namespace groma::emitting {

// The names of those optional blocks of the emitted text that a mapping needs (parts.h).
using Features = std::set<std::string, std::less<>>;

// An expression in C++ and its type. An expression that can only fail has the type kAny, and
// `failure` is then a C++ string literal with the reason.
struct CppExpr {
  std::string text;
  CppValueType type;
  // The precedence of the outermost operator. Operators with higher numbers bind tighter. An
  // expression with 9 never needs parentheses.
  int precedence = 9;
  // True if the text is a C++ integer literal.
  bool literal = false;
  std::string failure = {};
};

// An item of an index list or of an argument list.
struct CppListItem {
  // The expression of the item. Not set for `*`.
  CppExpr expr;
  Range range;
  // True if the item is `*t`, which stands for all items of the tuple t.
  bool is_splice = false;
  // True if the item is `*`, which stands for every index.
  bool is_star = false;
};
bool has_splice(const std::vector<CppListItem>& items);

// The output of a translation: the names of the optional blocks that the emitted text needs, and
// the reports of expressions that cannot be emitted.
struct EmissionOutput {
  Features& features;
  Diagnostics& diags;

  // Reports an expression that C++ types cannot express, and returns an expression that fails.
  CppExpr report_no_cpp(Range range, std::string_view what, std::string_view help);
};

// Returns the expression as an operand of an operator: in parentheses if it binds less tightly than
// `precedence`.
std::string operand_text(const CppExpr& expr, int precedence);
// Returns the expression as an `Int` of the emitted code, even if it is a C++ integer literal.
std::string integer_text(const CppExpr& expr);
// Returns the expression with its exact type in C++. An expression that can only fail becomes a
// call that fails and has that type.
std::string with_exact_type(const CppExpr& expr, CppValueType type);
// Returns the expression as a tuple: a processor becomes its pair of node and index. Returns
// nullopt if the expression is not a tuple.
std::optional<CppExpr> as_tuple(const CppExpr& expr);
// Returns the C++ for a list of items: "{a, b}", or "join<Int>(a, b)" if an item is a spliced
// tuple. `type` is the C++ type of an item.
std::string list_text(const std::vector<CppListItem>& items, std::string_view type);

// Returns an expression that fails with the message `why` when it is evaluated.
CppExpr failing_expr(const std::string& why);
// Returns an expression that fails with the error `type-mismatch`: `what` needs the type `needs`,
// not that of `found`.
CppExpr type_mismatch_expr(std::string_view what, std::string_view needs, const CppExpr& found);

// Returns a count with its noun, such as "1 argument" or "2 arguments".
std::string count_and_noun(std::size_t n, std::string_view what);

}  // namespace groma::emitting
