// Reads expressions: recursive descent, with one level for each precedence of binary operators.
#include "domain/expression_parser.h"

#include <algorithm>
#include <array>
#include <span>

#include "domain/tree.h"
#include "groma/harmless.h"

namespace groma::domains {
namespace {

// The words that begin a clause and cannot be names.
constexpr std::string_view kReserved[] = {"domain", "in",   "loops", "digits", "base",  "levels",
                                          "of",     "then", "or",    "except", "where", "by",
                                          "let",    "root", "fold",  "horner"};

// Binary operators by their precedence, the weakest first.
struct BinaryOperator {
  std::string_view sign;
  Operation operation;
  // True if the operands change places: a > b is b < a.
  bool swapped = false;
};
constexpr BinaryOperator kLevel0[] = {{"||", Operation::kOr}};
constexpr BinaryOperator kLevel1[] = {{"&&", Operation::kAnd}};
constexpr BinaryOperator kLevel2[] = {
    {"==", Operation::kEqual},     {"!=", Operation::kNotEqual},
    {"<=", Operation::kLessEqual}, {">=", Operation::kLessEqual, true},
    {"<", Operation::kLess},       {">", Operation::kLess, true}};
constexpr BinaryOperator kLevel3[] = {{"|", Operation::kBitOr}};
constexpr BinaryOperator kLevel4[] = {{"^", Operation::kBitXor}};
constexpr BinaryOperator kLevel5[] = {{"&", Operation::kBitAnd}};
constexpr BinaryOperator kLevel6[] = {{"<<", Operation::kShiftLeft},
                                      {">>", Operation::kShiftRight}};
constexpr BinaryOperator kLevel7[] = {{"+", Operation::kAdd}, {"-", Operation::kSubtract}};
constexpr BinaryOperator kLevel8[] = {
    {"*", Operation::kMultiply}, {"/", Operation::kDivide}, {"%", Operation::kRemainder}};
constexpr std::array<std::span<const BinaryOperator>, 9> kLevels = {
    kLevel0, kLevel1, kLevel2, kLevel3, kLevel4, kLevel5, kLevel6, kLevel7, kLevel8};

// Functions with a fixed number of arguments.
struct FunctionName {
  std::string_view name;
  Operation operation;
  std::size_t arguments;
};
constexpr FunctionName kFunctions[] = {
    {"min", Operation::kMin, 2},        {"max", Operation::kMax, 2},
    {"abs", Operation::kAbs, 1},        {"isqrt", Operation::kSquareRoot, 1},
    {"icbrt", Operation::kCubeRoot, 1}, {"ilog", Operation::kLogarithm, 2},
    {"popc", Operation::kBitCount, 1},
};

}  // namespace

void ExpressionParser::expected(std::string_view what) {
  if (!failed_ && !diags_.has_errors()) {
    const Token& token = current();
    Diagnostic& diagnostic =
        diags_.report(DiagId::kExpectedToken, token.range, what,
                      token.kind == Kind::kEnd ? std::string("the end of the text")
                                               : "`" + harmless(token.text) + "`");
    const std::string_view cure = cure_of(what, token);
    if (!cure.empty()) diagnostic.help(std::string(cure));
  }
  failed_ = true;
}

void ExpressionParser::too_large(Range range, std::string_view why) {
  if (ok()) diags_.report(DiagId::kDomainSize, range, name_, why);
  failed_ = true;
}

// Returns what to write instead of a token that is common in other languages, or an empty text.
std::string_view ExpressionParser::cure_of(std::string_view what, const Token& found) const {
  const std::string_view text = found.text;
  switch (context_) {
    case Context::kLoops:
      if (text == "&&" || text == "and") {
        return "separate the bounds of loops by commas: `y < n, x <= y`; other conditions stand "
               "behind `where`";
      }
      if (text == "=" || text == "==") {
        return "a loop has an upper bound, such as `y < n`; `n <= y <= n` is a loop with one value";
      }
      if (text == ">" || text == ">=") {
        return "write the smaller side first: `0 < y < n` or `y < n`";
      }
      break;
    case Context::kCondition:
      if (text == "and") return "write `&&` for `and`";
      if (text == "=") return "write `==` to compare numbers";
      break;
    case Context::kPoint:
      if (text == ",") return "write the coordinates of a point in parentheses: `(x, y)`";
      break;
    case Context::kDeclaration:
      if (what == "`domain`") {
        return "a declaration looks like `domain triangle(n) = (x, y) in loops y < n, x <= y;`";
      }
      break;
  }
  return what == "`;`" && found.kind == Kind::kEnd ? "end each declaration with `;`" : "";
}

// Reads a new name.
std::string ExpressionParser::need_name(Range* range) {
  const Token& token = current();
  if (!ok() || token.kind != Kind::kName) {
    expected("a name");
    return "";
  }
  for (std::string_view word : kReserved) {
    if (token.text == word) {
      diags_.report(DiagId::kReservedName, token.range, word, "variable");
      failed_ = true;
    }
  }
  *range = token.range;
  ++at_;
  return std::string(token.text);
}

// Reads a new name, or several in parentheses.
std::vector<std::string> ExpressionParser::bound_names() {
  std::vector<std::string> names;
  Range range;
  if (!take_sign("(")) return {need_name(&range)};
  do {
    names.push_back(need_name(&range));
  } while (take_sign(","));
  need_sign(")");
  return names;
}

std::uint32_t ExpressionParser::add_node(Expression* into, Node node) {
  if (into->nodes.size() >= kMaxNodes && ok()) {
    too_large(node.range, fmt::format("an expression has more than {} parts", kMaxNodes));
  }
  into->nodes.push_back(std::move(node));
  into->root = static_cast<std::uint32_t>(into->nodes.size() - 1);
  if (++into->depth > kMaxDepth && ok()) {
    diags_.report(DiagId::kNestingTooDeep, into->top().range, kMaxDepth);
    failed_ = true;
  }
  return into->root;
}

// Appends the nodes of another expression. Returns the new number of its top node.
std::uint32_t ExpressionParser::append(Expression* into, Expression&& other) {
  const auto shift = static_cast<std::uint32_t>(into->nodes.size());
  for (Node& node : other.nodes) {
    for (std::uint32_t& child : node.children) child += shift;
    into->nodes.push_back(std::move(node));
  }
  into->root = shift + other.root;
  into->depth = std::max(into->depth, other.depth);
  return into->root;
}

// Makes the expression of an operation from its operands.
Expression ExpressionParser::combine(Operation operation, Range range,
                                     std::vector<Expression>&& operands,
                                     std::vector<std::string> names) {
  Expression whole;
  Node node;
  node.operation = operation;
  node.range = range;
  node.names = std::move(names);
  for (Expression& operand : operands) {
    if (!ok()) return whole;
    // The nodes of the first operand stay where they are: a chain of operators is long on its
    // left.
    if (whole.nodes.empty()) {
      whole = std::move(operand);
      node.children.push_back(whole.root);
    } else {
      node.children.push_back(append(&whole, std::move(operand)));
    }
  }
  add_node(&whole, std::move(node));
  return whole;
}

Expression ExpressionParser::expression() {
  if (depth_ >= kMaxNesting) {
    if (ok()) diags_.report(DiagId::kNestingTooDeep, current().range, kMaxNesting);
    failed_ = true;
  }
  if (!ok()) return {};
  ++depth_;
  Expression read = is_word("let") ? let() : select();
  --depth_;
  return read;
}

// Reads `let x = e in e` and `let (x, y) = e in e`.
Expression ExpressionParser::let() {
  const std::size_t first = at_;
  need_word("let");
  std::vector<std::string> names = bound_names();
  need_sign("=");
  Expression bound = expression();
  need_word("in");
  Expression body = expression();
  return combine(Operation::kLet, range_since(first), list(std::move(bound), std::move(body)),
                 names);
}

Expression ExpressionParser::select() {
  const std::size_t first = at_;
  Expression condition = binary(0);
  if (!take_sign("?")) return condition;
  Expression yes = expression();
  need_sign(":");
  Expression no = expression();
  return combine(Operation::kSelect, range_since(first),
                 list(std::move(condition), std::move(yes), std::move(no)));
}

Expression ExpressionParser::binary(std::size_t level) {
  if (level == kLevels.size()) return unary();
  const std::size_t first = at_;
  Expression left = binary(level + 1);
  while (ok()) {
    const BinaryOperator* found = nullptr;
    for (const BinaryOperator& each : kLevels[level]) {
      if (found == nullptr && is_sign(each.sign)) found = &each;
    }
    if (found == nullptr) break;
    ++at_;
    Expression right = binary(level + 1);
    auto operands = found->swapped ? list(std::move(right), std::move(left))
                                   : list(std::move(left), std::move(right));
    left = combine(found->operation, range_since(first), std::move(operands));
  }
  return left;
}

Expression ExpressionParser::unary() {
  const std::size_t first = at_;
  for (const auto& [sign, operation] :
       {std::pair("-", Operation::kNegate), std::pair("!", Operation::kNot),
        std::pair("~", Operation::kComplement)}) {
    if (!is_sign(sign)) continue;
    if (depth_ >= kMaxNesting) return expression();  // reports the nesting
    ++at_;
    ++depth_;
    Expression operand = unary();
    --depth_;
    return combine(operation, range_since(first), list(std::move(operand)));
  }
  Expression value = primary();
  while (is_sign("[")) {
    ++at_;
    Expression index = expression();
    need_sign("]");
    value =
        combine(Operation::kIndex, range_since(first), list(std::move(value), std::move(index)));
  }
  return value;
}

Expression ExpressionParser::primary() {
  const std::size_t first = at_;
  const Token token = current();
  if (!ok()) return {};
  if (token.kind == Kind::kNumber) {
    ++at_;
    Expression value;
    Node node;
    node.range = token.range;
    node.number = token.number;
    add_node(&value, std::move(node));
    return value;
  }
  if (take_sign("(")) return tuple(first);
  if (take_sign("[")) {
    std::vector<Expression> entries;
    do {
      entries.push_back(expression());
    } while (ok() && take_sign(","));
    need_sign("]");
    return combine(Operation::kTable, range_since(first), std::move(entries));
  }
  if (token.kind != Kind::kName) {
    expected("an expression");
    return {};
  }
  if (take_word("root")) return root(first);
  if (take_word("fold")) return fold(first);
  if (take_word("horner")) return arguments(Operation::kHorner, 4, first);
  for (const FunctionName& function : kFunctions) {
    if (tokens_[at_ + 1].text == "(" && take_word(function.name)) {
      return arguments(function.operation, function.arguments, first);
    }
  }
  Range range;
  Expression value;
  Node node;
  node.operation = Operation::kName;
  node.names = {need_name(&range)};
  node.range = token.range;
  add_node(&value, std::move(node));
  return value;
}

Expression ExpressionParser::tuple(std::size_t first) {
  std::vector<Expression> items;
  do {
    items.push_back(expression());
  } while (ok() && take_sign(","));
  need_sign(")");
  if (items.size() == 1) return std::move(items.front());
  return combine(Operation::kTuple, range_since(first), std::move(items));
}

Expression ExpressionParser::arguments(Operation operation, std::size_t count, std::size_t first) {
  std::vector<Expression> values;
  need_sign("(");
  do {
    values.push_back(expression());
  } while (ok() && take_sign(","));
  need_sign(")");
  if (ok() && values.size() != count) {
    diags_.report(DiagId::kWrongArgumentCount, range_since(first), tokens_[first].text,
                  fmt::format("{} arguments", count), values.size());
    failed_ = true;
  }
  return combine(operation, range_since(first), std::move(values));
}

// Reads `(m => f, e)`.
Expression ExpressionParser::root(std::size_t first) {
  Range range;
  need_sign("(");
  std::string name = need_name(&range);
  need_sign("=>");
  Expression function = expression();
  need_sign(",");
  Expression bound = expression();
  need_sign(")");
  return combine(Operation::kRoot, range_since(first), list(std::move(function), std::move(bound)),
                 {name});
}

// Reads `(e, s, r, start, (a, q, i) => f)`.
Expression ExpressionParser::fold(std::size_t first) {
  std::vector<Expression> values;
  need_sign("(");
  for (int i = 0; i < 4; ++i) {
    values.push_back(expression());
    need_sign(",");
  }
  std::vector<std::string> names;
  Range range;
  need_sign("(");
  for (int i = 0; i < 3; ++i) {
    if (i > 0) need_sign(",");
    names.push_back(need_name(&range));
  }
  need_sign(")");
  need_sign("=>");
  values.push_back(expression());
  need_sign(")");
  return combine(Operation::kFold, range_since(first), std::move(values), names);
}

}  // namespace groma::domains
