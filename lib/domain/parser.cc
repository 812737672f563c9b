// Reads domain declarations: recursive descent over the tokens.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "domain/expression_parser.h"
#include "domain/tree.h"

namespace groma::domains {
namespace {

class Parser : ExpressionParser {
 public:
  explicit Parser(Diagnostics& diags) : ExpressionParser(diags) {}

  std::vector<DeclarationTree> declarations() {
    std::vector<DeclarationTree> all;
    while (ok() && current().kind != Kind::kEnd) {
      if (all.size() == kMaxDeclarations) {
        name_ = diags_.source().name();
        too_large(current().range, fmt::format("it has more than {} domains", kMaxDeclarations));
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
  void declaration(DeclarationTree* tree) {
    const std::size_t first = at_;
    tree->comment = comment_above(current().range.begin);
    context_ = Context::kDeclaration;
    need_word("domain");
    tree->name = name_ = need_name(&tree->name_range);
    if (take_sign("(")) {
      do {
        DeclarationTree::Parameter parameter;
        parameter.name = need_name(&parameter.range);
        if (take_sign("=")) parameter.usual = number();
        tree->parameters.push_back(std::move(parameter));
      } while (take_sign(","));
      need_sign(")");
    }
    if (ok() && tree->parameters.size() > kMaxParameters) {
      diags_
          .report(DiagId::kDomainParameter, tree->parameters[kMaxParameters].range, tree->name,
                  fmt::format("has {} parameters, and at most {} are allowed",
                              tree->parameters.size(), kMaxParameters))
          .help("write a number for a parameter that always has the same value");
      failed_ = true;
    }
    need_sign("=");
    using Join = DeclarationTree::Join;
    Join join = Join::kFirst;
    do {
      if (tree->parts.size() == kMaxParts) {
        too_large(current().range, fmt::format("it has more than {} parts", kMaxParts));
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
      context_ = Context::kPoint;
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
    context_ = Context::kLoops;
    do {
      tree->loops.push_back(loop());
    } while (ok() && take_sign(","));
    if (tree->loops.size() > static_cast<std::size_t>(kMaxDimensions) - 1) {
      too_large(tree->loops.back().range,
                fmt::format("it has more than {} loops in one nest", kMaxDimensions - 1));
    }
    if (take_word("where")) tree->where = condition();
  }

  // Reads `name < high` or `low <= name < high`.
  LoopTree loop() {
    LoopTree tree;
    const std::size_t first = at_;
    Expression left = binary(kSumLevel);
    if (ok() && is_condition(left.top().operation)) {
      diags_
          .report(DiagId::kExpectedToken, left.top().range, "the bound of a loop",
                  "a condition in parentheses")
          .help("write `y < n` without parentheses");
      failed_ = true;
    }
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

  static bool is_condition(Operation operation) {
    return operation == Operation::kLess || operation == Operation::kLessEqual ||
           operation == Operation::kEqual || operation == Operation::kNotEqual ||
           operation == Operation::kAnd || operation == Operation::kOr;
  }
  Expression condition() {
    context_ = Context::kCondition;
    return expression();
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
      tree->where = condition();
    }
  }
};

}  // namespace

std::vector<DeclarationTree> parse_declarations(Diagnostics& diags) {
  return Parser(diags).declarations();
}

std::optional<DeclarationTree::Map> parse_map(Diagnostics& diags) {
  return Parser(diags).whole_map();
}

}  // namespace groma::domains
