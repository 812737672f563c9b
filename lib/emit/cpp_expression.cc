// Combines C++ expressions, with parentheses where C++ needs them.
#include "emit/cpp_expression.h"

#include <fmt/format.h>

#include <algorithm>

namespace groma::emitting {

using program::Type;

bool has_splice(const std::vector<CppListItem>& items) {
  return std::any_of(items.begin(), items.end(),
                     [](const CppListItem& item) { return item.is_splice; });
}

std::string operand_text(const CppExpr& expr, int precedence) {
  return expr.precedence < precedence ? "(" + expr.text + ")" : expr.text;
}

std::string integer_text(const CppExpr& expr) {
  return expr.literal ? "Int(" + expr.text + ")" : expr.text;
}

// Returns the expression with its exact C++ type. `failed<T>(why)` is a function of the emitted
// code that throws; T gives the whole expression a type.
std::string with_exact_type(const CppExpr& expr, CppValueType type) {
  if (expr.type.can_only_fail())
    return fmt::format("failed<{}>({})", type.cpp_type(), expr.failure);
  return integer_text(expr);
}

CppExpr failing_expr(const std::string& why) {
  CppExpr expr;
  expr.failure = string_literal(why);
  return expr;
}

CppExpr type_mismatch_expr(std::string_view what, std::string_view needs, const CppExpr& found) {
  return failing_expr(
      fmt::format("{} needs {}, not {} [type-mismatch]", what, needs, found.type.type_text()));
}

// Reports an expression that cannot be emitted. The result is only a placeholder: after the report,
// no text is emitted.
CppExpr EmissionOutput::report_no_cpp(Range range, std::string_view what, std::string_view help) {
  diags.report(DiagId::kNotEmitted, range, what).help(std::string(help));
  return failing_expr("not emitted");
}

// Returns the expression as a tuple. A processor counts as the pair of its node and its index
// there.
std::optional<CppExpr> as_tuple(const CppExpr& expr) {
  if (expr.type.is_tuple()) return expr;
  if (!expr.type.is_type(Type::kProcessor)) return std::nullopt;
  return CppExpr{operand_text(expr, 9) + ".pair()", kTuple};
}

// Returns the items of a list as C++. If an item is a spliced tuple, join() makes one tuple of all
// items at run time.
std::string list_text(const std::vector<CppListItem>& items, std::string_view type) {
  std::string text;
  const bool splices = has_splice(items);
  for (const CppListItem& item : items) {
    text += text.empty() ? "" : ", ";
    text += item.is_star ? "kAll" : splices ? integer_text(item.expr) : item.expr.text;
  }
  if (!splices) return "{" + text + "}";
  // The list `(*t)` is `t`, so nothing is joined.
  if (items.size() == 1 && type == "Int") return items.front().expr.text;
  return fmt::format("join<{}>({})", type, text);
}

// Returns a count with its noun. The plural ends with "s", which is right for all words that are
// used here.
std::string count_and_noun(std::size_t n, std::string_view what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

}  // namespace groma::emitting
