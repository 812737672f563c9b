// Gives the names of an expression their slots and its nodes their widths.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "domain/tree.h"
#include "groma/spelling.h"

namespace groma::domains {
namespace {

class Resolver {
 public:
  Resolver(Expression& expression, const std::vector<NameInScope>& scope, Diagnostics& diags,
           const NameCure& cure)
      : expression_(expression), diags_(diags), cure_(cure) {
    for (const NameInScope& each : scope) add(each.name, each.width);
  }

  bool run() {
    const bool done = visit(expression_.root) && value_of(expression_.root, "the expression");
    expression_.slots = most_;
    return done;
  }

 private:
  struct Variable {
    std::string name;
    int width, slot;
  };

  int add(const std::string& name, int width) {
    scope_.push_back({name, width, next_});
    next_ += width;
    most_ = std::max(most_, next_);
    return scope_.back().slot;
  }
  void remove(std::size_t count) {
    for (; count > 0; --count) {
      next_ = scope_.back().slot;
      scope_.pop_back();
    }
  }

  Node& node(std::uint32_t number) { return expression_.nodes[number]; }
  bool mismatch(Range range, std::string_view what, std::string_view needs, std::string_view is) {
    diags_.report(DiagId::kTypeMismatch, range, what, needs, is);
    return false;
  }
  static std::string words(const Node& node) {
    if (node.is_table) return "a table";
    return node.width == 1 ? "an integer" : fmt::format("a tuple of {}", node.width);
  }
  // Returns true if the node is not a table.
  bool value_of(std::uint32_t number, std::string_view what) {
    return !node(number).is_table || mismatch(node(number).range, what, "a value", "a table");
  }
  bool scalar(std::uint32_t number, std::string_view what) {
    const Node& each = node(number);
    if (!each.is_table && each.width == 1) return true;
    return mismatch(each.range, what, "an integer", words(each));
  }

  bool name(Node& each) {
    for (auto variable = scope_.rbegin(); variable != scope_.rend(); ++variable) {
      if (variable->name != each.names.front()) continue;
      each.number = variable->slot;
      each.width = variable->width;
      return true;
    }
    std::vector<std::string_view> known;
    for (const Variable& variable : scope_) known.push_back(variable.name);
    Diagnostic& diagnostic = diags_.report(DiagId::kUnknownName, each.range, each.names.front());
    std::string help = cure_ ? cure_(each.names.front()) : std::string();
    if (!help.empty()) {
      diagnostic.help(std::move(help));
    } else {
      suggest(diagnostic, each.names.front(), known, each.range);
    }
    return false;
  }

  bool let(std::uint32_t number) {
    if (!visit(node(number).children[0]) || !value_of(node(number).children[0], "`let`")) {
      return false;
    }
    const std::vector<std::string> names = node(number).names;
    const int width = node(node(number).children[0]).width;
    if (names.size() > 1 && static_cast<int>(names.size()) != width) {
      return mismatch(node(number).range, "`let`", fmt::format("a tuple of {}", names.size()),
                      words(node(node(number).children[0])));
    }
    node(number).number = next_;
    for (const std::string& each : names) add(each, names.size() == 1 ? width : 1);
    const bool done =
        visit(node(number).children[1]) && value_of(node(number).children[1], "`let`");
    remove(names.size());
    if (done) node(number).width = node(node(number).children[1]).width;
    return done;
  }

  bool root(std::uint32_t number) {
    if (!visit(node(number).children[1]) || !scalar(node(number).children[1], "`root`")) {
      return false;
    }
    node(number).number = add(node(number).names.front(), 1);
    const bool done = visit(node(number).children[0]) && scalar(node(number).children[0], "`root`");
    remove(1);
    node(number).width = 1;
    return done;
  }

  bool fold(std::uint32_t number) {
    for (std::size_t i = 0; i < 4; ++i) {
      const std::uint32_t child = node(number).children[i];
      if (!visit(child)) return false;
      if (i < 3 ? !scalar(child, "`fold`") : !value_of(child, "`fold`")) return false;
    }
    const int width = node(node(number).children[3]).width;
    const std::vector<std::string> names = node(number).names;
    node(number).number = add(names[0], width);
    add(names[1], 1);
    add(names[2], 1);
    const std::uint32_t body = node(number).children[4];
    const bool done = visit(body) && value_of(body, "`fold`");
    remove(3);
    if (!done) return false;
    if (node(body).width != width) {
      return mismatch(node(body).range, "`fold`", words(node(node(number).children[3])),
                      words(node(body)));
    }
    node(number).width = width;
    return true;
  }

  // All entries of a table are constants of one width.
  bool table(std::uint32_t number) {
    for (std::uint32_t child : node(number).children) {
      if (!visit(child) || !value_of(child, "a table")) return false;
      if (node(child).width != node(node(number).children[0]).width) {
        return mismatch(node(child).range, "a table", words(node(node(number).children[0])),
                        words(node(child)));
      }
      if (!is_constant(child)) {
        return mismatch(node(child).range, "a table", "constant entries", "a variable");
      }
    }
    node(number).width = node(node(number).children[0]).width;
    node(number).is_table = true;
    return true;
  }
  bool is_constant(std::uint32_t number) {
    const Node& each = node(number);
    return each.operation != Operation::kName &&
           std::all_of(each.children.begin(), each.children.end(),
                       [&](std::uint32_t child) { return is_constant(child); });
  }

  bool visit(std::uint32_t number) {
    switch (node(number).operation) {
      case Operation::kNumber:
        node(number).width = 1;
        return true;
      case Operation::kName:
        return name(node(number));
      case Operation::kLet:
        return let(number);
      case Operation::kRoot:
        return root(number);
      case Operation::kFold:
        return fold(number);
      case Operation::kTable:
        return table(number);
      default:
        break;
    }
    // A copy, because visits may not change the list but a reference would hide that.
    const std::vector<std::uint32_t> children = node(number).children;
    for (std::uint32_t child : children) {
      if (!visit(child)) return false;
    }
    return combine(node(number), children);
  }

  bool combine(Node& each, const std::vector<std::uint32_t>& children) {
    switch (each.operation) {
      case Operation::kNegate:
        each.width = node(children[0]).width;
        return value_of(children[0], "`-`");
      case Operation::kAdd:
      case Operation::kSubtract:
      case Operation::kMultiply:
      case Operation::kDivide:
      case Operation::kRemainder:
      case Operation::kBitAnd:
      case Operation::kBitOr:
      case Operation::kBitXor:
      case Operation::kShiftLeft:
      case Operation::kShiftRight:
      case Operation::kMin:
      case Operation::kMax: {
        if (!value_of(children[0], "the operator") || !value_of(children[1], "the operator")) {
          return false;
        }
        const int a = node(children[0]).width, b = node(children[1]).width;
        each.width = std::max(a, b);
        return a == b || a == 1 || b == 1 ||
               mismatch(each.range, "the operator", words(node(children[0])),
                        words(node(children[1])));
      }
      case Operation::kSelect:
        each.width = node(children[1]).width;
        if (!scalar(children[0], "`?`") || !value_of(children[1], "`?`") ||
            !value_of(children[2], "`?`")) {
          return false;
        }
        return each.width == node(children[2]).width ||
               mismatch(node(children[2]).range, "`:`", words(node(children[1])),
                        words(node(children[2])));
      case Operation::kTuple:
        each.width = static_cast<int>(children.size());
        if (each.width > kMaxDimensions) {
          diags_.report(DiagId::kTupleTooLong, each.range, kMaxDimensions);
          return false;
        }
        return std::all_of(children.begin(), children.end(),
                           [&](std::uint32_t child) { return scalar(child, "a tuple"); });
      case Operation::kIndex:
        each.width = node(children[0]).is_table ? node(children[0]).width : 1;
        if (!node(children[0]).is_table && node(children[0]).width == 1) {
          return mismatch(node(children[0]).range, "`[ ]`", "a tuple or a table", "an integer");
        }
        return scalar(children[1], "`[ ]`");
      case Operation::kHorner:
        each.width = node(children[3]).width;
        if (!node(children[3]).is_table) {
          return mismatch(node(children[3]).range, "`horner`", "a table", words(node(children[3])));
        }
        return scalar(children[0], "`horner`") && scalar(children[1], "`horner`") &&
               scalar(children[2], "`horner`");
      default:
        break;
    }
    each.width = 1;
    return std::all_of(children.begin(), children.end(),
                       [&](std::uint32_t child) { return scalar(child, "the operator"); });
  }

  Expression& expression_;
  Diagnostics& diags_;
  const NameCure& cure_;
  std::vector<Variable> scope_;
  int next_ = 0, most_ = 0;
};

}  // namespace

bool resolve(Expression& expression, const std::vector<NameInScope>& scope, Diagnostics& diags,
             const NameCure& cure) {
  return Resolver(expression, scope, diags, cure).run();
}

}  // namespace groma::domains
