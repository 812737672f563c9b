// Puts C++ expressions together, with parentheses where C++ needs them.
#include "emit/cpp_expression.h"

#include <fmt/format.h>

#include <algorithm>

namespace groma::emitting {

using program::Type;

bool has_splice(const std::vector<ListItem>& items) {
  return std::any_of(items.begin(), items.end(), [](const ListItem& item) { return item.splice; });
}

std::string operand(const Expr& expr, int precedence) {
  return expr.precedence < precedence ? "(" + expr.text + ")" : expr.text;
}

std::string integer(const Expr& expr) {
  return expr.literal ? "Int(" + expr.text + ")" : expr.text;
}

// `failed<T>(why)` is a function of the emitted code that throws; T makes the whole expression have
// a type.
std::string with_exact_type(const Expr& expr, ValueType type) {
  if (expr.type.never()) return fmt::format("failed<{}>({})", type.cpp(), expr.failure);
  return integer(expr);
}

Expr failing(const std::string& why) {
  Expr expr;
  expr.failure = quoted(why);
  return expr;
}

Expr type_mismatch(std::string_view what, std::string_view needs, const Expr& found) {
  return failing(
      fmt::format("{} needs {}, not {} [type-mismatch]", what, needs, found.type.text()));
}

// The result is only a placeholder: after the report, no text is emitted.
Expr Emission::no_cpp(Range range, std::string_view what, std::string_view help) {
  diags.report(DiagId::kNotEmitted, range, what).help(std::string(help));
  return failing("not emitted");
}

// A processor counts as the pair of its node and its index there.
std::optional<Expr> as_tuple(const Expr& expr) {
  if (expr.type.tuple()) return expr;
  if (!expr.type.is(Type::kProcessor)) return std::nullopt;
  return Expr{operand(expr, 9) + ".pair()", kTuple};
}

// Returns the items of a list as C++. If an item is spliced, join() makes one tuple of all items at
// run time.
std::string list_text(const std::vector<ListItem>& items, std::string_view type) {
  std::string text;
  const bool splices = has_splice(items);
  for (const ListItem& item : items) {
    text += text.empty() ? "" : ", ";
    text += item.all ? "kAll" : splices ? integer(item.expr) : item.expr.text;
  }
  if (!splices) return "{" + text + "}";
  // The list `(*t)` is `t`, so nothing is joined.
  if (items.size() == 1 && type == "Int") return items.front().expr.text;
  return fmt::format("join<{}>({})", type, text);
}

// Makes the plural with "s", which is right for all words that are used here.
std::string counted(std::size_t n, std::string_view what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

}  // namespace groma::emitting
