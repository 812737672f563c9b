// Reads domain declarations and expressions: recursive descent over the tokens.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "domain/lexer.h"
#include "domain/tree.h"
#include "groma/harmless.h"

namespace groma::domains {
namespace {

using Kind = Token::Kind;

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
// The level of the operators that bind stronger than comparisons. Bounds of loops begin here.
constexpr std::size_t kSumLevel = 7;

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

class Parser {
 public:
  explicit Parser(Diagnostics& diags) : diags_(diags), tokens_(tokens_of(diags)) {}

  std::vector<DeclarationTree> declarations() {
    std::vector<DeclarationTree> all;
    while (ok() && current().kind != Kind::kEnd) {
      if (all.size() == kMaxDeclarations) {
        diags_.report(DiagId::kProgramTooLarge, current().range, kMaxDeclarations, "domains");
        break;
      }
      DeclarationTree tree;
      declaration(&tree);
      if (ok()) all.push_back(std::move(tree));
    }
    return all;
  }

  std::optional<DeclarationTree::Map> whole_map() {
    take_word("by");
    DeclarationTree::Map result = map();
    take_sign(";");
    if (ok() && current().kind != Kind::kEnd) expected("the end of the map");
    if (!ok() || diags_.has_errors()) return std::nullopt;
    return result;
  }

 private:
  // ---- Tokens

  // Returns true if no error was found. After an error nothing is read.
  bool ok() const { return !failed_; }
  const Token& current() const { return tokens_[at_]; }
  Range range_since(std::size_t first) const {
    return {tokens_[first].range.begin, tokens_[at_ > first ? at_ - 1 : first].range.end};
  }
  void expected(std::string_view what) {
    if (!failed_ && !diags_.has_errors()) {
      const Token& token = current();
      diags_.report(DiagId::kExpectedToken, token.range, what,
                    token.kind == Kind::kEnd ? std::string("the end of the text")
                                             : "`" + harmless(token.text) + "`");
    }
    failed_ = true;
  }
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
  std::string need_name(Range* range) {
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

  // ---- Declarations

  void declaration(DeclarationTree* tree) {
    const std::size_t first = at_;
    tree->comment = comment_above(current().range.begin);
    need_word("domain");
    tree->name = need_name(&tree->name_range);
    if (take_sign("(")) {
      do {
        DeclarationTree::Parameter parameter;
        parameter.name = need_name(&parameter.range);
        if (take_sign("=")) parameter.usual = number();
        tree->parameters.push_back(std::move(parameter));
      } while (take_sign(","));
      need_sign(")");
    }
    if (tree->parameters.size() > kMaxParameters) {
      diags_.report(DiagId::kProgramTooLarge, tree->name_range, kMaxParameters, "parameters");
      failed_ = true;
    }
    need_sign("=");
    using Join = DeclarationTree::Join;
    Join join = Join::kFirst;
    do {
      if (tree->parts.size() == kMaxParts) {
        diags_.report(DiagId::kProgramTooLarge, current().range, kMaxParts, "parts of a domain");
        failed_ = true;
      }
      tree->parts.emplace_back(join, part());
      join = take_word("then")     ? Join::kThen
             : take_word("or")     ? Join::kOr
             : take_word("except") ? Join::kExcept
                                   : Join::kFirst;
    } while (ok() && join != Join::kFirst);
    if (take_word("by")) tree->by = map();
    need_sign(";");
    tree->range = range_since(first);
  }

  // Returns the lines of comments that end directly above the offset, without their `#`.
  std::string comment_above(std::uint32_t offset) const {
    const std::string_view text = diags_.source().text();
    std::string comment;
    std::size_t line = text.rfind('\n', offset == 0 ? 0 : offset - 1);
    while (line != std::string_view::npos && offset > 0) {
      const std::size_t before = line == 0 ? std::string_view::npos : text.rfind('\n', line - 1);
      const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
      std::string_view above = text.substr(begin, line - begin);
      if (!above.starts_with('#')) break;
      above.remove_prefix(1);
      if (above.starts_with(' ')) above.remove_prefix(1);
      if (comment.size() + above.size() > kMaxComment) break;
      comment = fmt::format("{}{}{}", above, comment.empty() ? "" : " ", comment);
      line = before;
    }
    return comment;
  }

  std::int64_t number() {
    const bool negative = take_sign("-");
    if (!ok() || current().kind != Kind::kNumber) {
      expected("a number");
      return 0;
    }
    const std::int64_t value = current().number;
    ++at_;
    return negative ? -value : value;
  }

  // Reads a new name, or several in parentheses.
  std::vector<std::string> bound_names() {
    std::vector<std::string> names;
    Range range;
    if (!take_sign("(")) return {need_name(&range)};
    do {
      names.push_back(need_name(&range));
    } while (take_sign(","));
    need_sign(")");
    return names;
  }

  // Reads `k => e` or `(x, y) => e`.
  DeclarationTree::Map map() {
    DeclarationTree::Map map;
    map.variables = bound_names();
    need_sign("=>");
    map.value = expression();
    return map;
  }

  PartTree part() {
    PartTree tree;
    const std::size_t first = at_;
    // `name(...)` and `name` without `in` refer to another domain.
    if (ok() && current().kind == Kind::kName && !refers_to_points()) {
      tree.kind = PartTree::Kind::kReference;
      tree.name = need_name(&tree.range);
      if (take_sign("(")) {
        do {
          tree.arguments.push_back(expression());
        } while (take_sign(","));
        need_sign(")");
      }
    } else {
      tree.head = expression();
      need_word("in");
      if (take_word("loops")) {
        loops(&tree);
      } else if (take_word("digits")) {
        digits(&tree);
      } else {
        expected("`loops` or `digits`");
      }
    }
    tree.range = range_since(first);
    return tree;
  }

  // Returns true if a part that begins with a name is `x in ...`.
  bool refers_to_points() const {
    std::size_t depth = 0;
    for (std::size_t i = at_; i < tokens_.size(); ++i) {
      const Token& token = tokens_[i];
      if (token.text == "(" || token.text == "[") ++depth;
      if (token.text == ")" || token.text == "]") depth -= depth > 0 ? 1 : 0;
      if (depth > 0) continue;
      if (token.kind == Kind::kName && token.text == "in") return true;
      for (std::string_view end : {"then", "or", "except", "by", ";"}) {
        if (token.text == end) return false;
      }
    }
    return false;
  }

  void loops(PartTree* tree) {
    tree->kind = PartTree::Kind::kLoops;
    do {
      tree->loops.push_back(loop());
    } while (ok() && take_sign(","));
    if (tree->loops.size() > static_cast<std::size_t>(kMaxDimensions) - 1) {
      diags_.report(DiagId::kProgramTooLarge, tree->loops.back().range, kMaxDimensions - 1,
                    "loops in one nest");
      failed_ = true;
    }
    if (take_word("where")) tree->where = expression();
  }

  // Reads `name < high` or `low <= name < high`.
  LoopTree loop() {
    LoopTree tree;
    const std::size_t first = at_;
    Expression left = binary(kSumLevel);
    bool excluded = comparison();
    Expression middle = binary(kSumLevel);
    const Expression* name = &left;
    if (is_sign("<") || is_sign("<=")) {
      tree.low = std::move(left);
      tree.low_is_excluded = excluded;
      excluded = comparison();
      tree.high = binary(kSumLevel);
      name = &middle;
    } else {
      tree.high = middle;
    }
    tree.high_is_excluded = excluded;
    if (ok() && name->top().operation != Operation::kName) {
      diags_
          .report(DiagId::kExpectedToken, name->top().range, "the name of a loop variable",
                  "an expression")
          .help("write `0 <= x < n`, or `x < n` for a loop that begins at 0");
      failed_ = true;
    }
    if (ok()) {
      tree.name = name->top().names.front();
      tree.range = range_since(first);
    }
    return tree;
  }
  // Reads `<` or `<=`. Returns true for `<`.
  bool comparison() {
    if (take_sign("<")) return true;
    if (!take_sign("<=")) expected("`<` or `<=`");
    return false;
  }

  void digits(PartTree* tree) {
    tree->kind = PartTree::Kind::kDigits;
    need_word("base");
    tree->base = expression();
    need_word("levels");
    tree->levels = expression();
    if (take_word("of")) {
      do {
        tree->table.push_back(expression());
      } while (ok() && take_sign(",") && tree->table.size() < kMaxNodes);
    } else {
      need_word("where");
      tree->where = expression();
    }
  }

  // ---- Expressions

  std::uint32_t add_node(Expression* into, Node node) {
    if (into->nodes.size() >= kMaxNodes && ok()) {
      diags_.report(DiagId::kProgramTooLarge, node.range, kMaxNodes, "parts of an expression");
      failed_ = true;
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
  static std::uint32_t append(Expression* into, Expression&& other) {
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
  Expression combine(Operation operation, Range range, std::vector<Expression>&& operands,
                     std::vector<std::string> names = {}) {
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
  template <typename... Operands>
  static std::vector<Expression> list(Operands&&... operands) {
    std::vector<Expression> all;
    (all.push_back(std::forward<Operands>(operands)), ...);
    return all;
  }

  Expression expression() {
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
  Expression let() {
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

  Expression select() {
    const std::size_t first = at_;
    Expression condition = binary(0);
    if (!take_sign("?")) return condition;
    Expression yes = expression();
    need_sign(":");
    Expression no = expression();
    return combine(Operation::kSelect, range_since(first),
                   list(std::move(condition), std::move(yes), std::move(no)));
  }

  Expression binary(std::size_t level) {
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

  Expression unary() {
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

  Expression primary() {
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

  Expression tuple(std::size_t first) {
    std::vector<Expression> items;
    do {
      items.push_back(expression());
    } while (ok() && take_sign(","));
    need_sign(")");
    if (items.size() == 1) return std::move(items.front());
    return combine(Operation::kTuple, range_since(first), std::move(items));
  }

  Expression arguments(Operation operation, std::size_t count, std::size_t first) {
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
  Expression root(std::size_t first) {
    Range range;
    need_sign("(");
    std::string name = need_name(&range);
    need_sign("=>");
    Expression function = expression();
    need_sign(",");
    Expression bound = expression();
    need_sign(")");
    return combine(Operation::kRoot, range_since(first),
                   list(std::move(function), std::move(bound)), {name});
  }

  // Reads `(e, s, r, start, (a, q, i) => f)`.
  Expression fold(std::size_t first) {
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

  Diagnostics& diags_;
  const std::vector<Token> tokens_;
  std::size_t at_ = 0;
  int depth_ = 0;
  bool failed_ = false;
};

}  // namespace

std::vector<DeclarationTree> parse_declarations(Diagnostics& diags) {
  return Parser(diags).declarations();
}

std::optional<DeclarationTree::Map> parse_map(Diagnostics& diags) {
  return Parser(diags).whole_map();
}

}  // namespace groma::domains
