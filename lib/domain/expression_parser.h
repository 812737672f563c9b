// ExpressionParser: reads the expressions of domain declarations. parser.cc reads the rest.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "domain/expression.h"
#include "domain/lexer.h"
#include "groma/diagnostics.h"

namespace groma::domains {

// The level of the operators that bind stronger than comparisons. Bounds of loops begin here.
inline constexpr std::size_t kSumLevel = 7;

// Recursive descent over the tokens. After an error nothing more is read.
class ExpressionParser {
 protected:
  using Kind = Token::Kind;
  // What is being read. Decides how a mistake can be corrected.
  enum class Context : std::uint8_t { kDeclaration, kPoint, kLoops, kCondition };

  explicit ExpressionParser(Diagnostics& diags) : diags_(diags), tokens_(tokens_of(diags)) {}

  // Returns true if no error was found. After an error nothing is read.
  bool ok() const { return !failed_; }
  const Token& current() const { return tokens_[at_]; }
  Range range_since(std::size_t first) const {
    return {tokens_[first].range.begin, tokens_[at_ > first ? at_ - 1 : first].range.end};
  }
  // Reports that `what` must stand where another token is, with a cure for common mistakes.
  void expected(std::string_view what);
  // Reports that something in the declaration exceeds a limit.
  void too_large(Range range, std::string_view why);
  std::string_view cure_of(std::string_view what, const Token& found) const;
  bool is_sign(std::string_view sign) const {
    return ok() && current().kind == Kind::kSign && current().text == sign;
  }
  bool is_word(std::string_view word) const {
    return ok() && current().kind == Kind::kName && current().text == word;
  }
  bool take_sign(std::string_view sign) {
    const bool found = is_sign(sign);
    at_ += found ? 1 : 0;
    return found;
  }
  bool take_word(std::string_view word) {
    const bool found = is_word(word);
    at_ += found ? 1 : 0;
    return found;
  }
  void need_sign(std::string_view sign) {
    if (!take_sign(sign)) expected(fmt::format("`{}`", sign));
  }
  void need_word(std::string_view word) {
    if (!take_word(word)) expected(fmt::format("`{}`", word));
  }
  // Reads a new name.
  std::string need_name(Range* range);
  // Reads a new name, or several in parentheses.
  std::vector<std::string> bound_names();
  std::uint32_t add_node(Expression* into, Node node);
  // Appends the nodes of another expression. Returns the new number of its top node.
  static std::uint32_t append(Expression* into, Expression&& other);
  // Makes the expression of an operation from its operands.
  Expression combine(Operation operation, Range range, std::vector<Expression>&& operands,
                     std::vector<std::string> names = {});
  template <typename... Operands>
  static std::vector<Expression> list(Operands&&... operands) {
    std::vector<Expression> all;
    (all.push_back(std::forward<Operands>(operands)), ...);
    return all;
  }
  Expression expression();
  // Reads `let x = e in e` and `let (x, y) = e in e`.
  Expression let();
  Expression select();
  Expression binary(std::size_t level);
  Expression unary();
  Expression primary();
  Expression tuple(std::size_t first);
  Expression arguments(Operation operation, std::size_t count, std::size_t first);
  // Reads `(m => f, e)`.
  Expression root(std::size_t first);
  // Reads `(e, s, r, start, (a, q, i) => f)`.
  Expression fold(std::size_t first);

  Diagnostics& diags_;
  const std::vector<Token> tokens_;
  std::size_t at_ = 0;
  int depth_ = 0;
  Context context_ = Context::kDeclaration;
  // The name of the current declaration.
  std::string name_ = "the map";
  bool failed_ = false;
};

}  // namespace groma::domains
