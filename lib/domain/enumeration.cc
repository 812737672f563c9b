#include "domain/enumeration.h"

#include <algorithm>

namespace groma::domains {
namespace {

using PointFunction = std::function<bool(const Coordinates& point)>;

// Expressions of one declaration, for given parameters.
class Enumerator {
 public:
  Enumerator(const std::vector<DeclarationTree>& trees, std::int64_t* left)
      : trees_(trees), left_(left) {}

  EnumerationEnd declaration(const DeclarationTree& tree, const std::vector<std::int64_t>& values,
                             const PointFunction& f) {
    values_ = values;
    parameters_.clear();
    for (const auto& parameter : tree.parameters) parameters_.push_back({parameter.name, 1});
    if (!tree.by) return parts(tree, f);
    std::int64_t count = 0;
    const EnumerationEnd end = parts(tree, [&](const Coordinates&) {
      ++count;
      return true;
    });
    if (end != EnumerationEnd::kComplete) return end;
    std::vector<NameInScope> scope = parameters_;
    scope.push_back({tree.by->variables.front(), 1});
    const Expression value = resolved(tree.by->value, scope);
    std::vector<std::int64_t> given = values_;
    given.push_back(0);
    for (; given.back() < count; ++given.back()) {
      const EnumerationEnd next = give(evaluate(value, given), f);
      if (next != EnumerationEnd::kComplete) return next;
    }
    return EnumerationEnd::kComplete;
  }

 private:
  static Expression resolved(Expression expression, const std::vector<NameInScope>& scope) {
    Diagnostics ignored{Source()};
    GROMA_CHECK(resolve(expression, scope, ignored));
    return expression;
  }
  // Returns 0, and sets `failed_`, if a number in between does not fit: the maps compute with
  // polynomials, in which such numbers cancel out.
  Value evaluate(const Expression& expression, std::span<const std::int64_t> given) {
    Value value;
    if (evaluator_.evaluate(expression, given, &value)) return value;
    failed_ = true;
    return {};
  }
  // Calls f for a point, unless it could not be computed.
  EnumerationEnd give(const Value& point, const PointFunction& f) const {
    if (failed_) return EnumerationEnd::kTooLarge;
    return f(point.items) ? EnumerationEnd::kComplete : EnumerationEnd::kStopped;
  }
  std::int64_t evaluate_parameter(const Expression& expression) {
    return evaluate(resolved(expression, parameters_), values_).items[0];
  }

  EnumerationEnd parts(const DeclarationTree& tree, const PointFunction& f) {
    const bool only_then =
        std::all_of(tree.parts.begin() + 1, tree.parts.end(),
                    [](const auto& each) { return each.first == DeclarationTree::Join::kThen; });
    if (!only_then) return combined_parts(tree, f);
    for (const auto& [join, each] : tree.parts) {
      const EnumerationEnd end = part(each, f);
      if (end != EnumerationEnd::kComplete) return end;
    }
    return EnumerationEnd::kComplete;
  }

  // Keeps all points in memory, because `or` and `except` look for points of other parts.
  EnumerationEnd combined_parts(const DeclarationTree& tree, const PointFunction& f) {
    std::vector<Coordinates> all;
    for (const auto& [join, each] : tree.parts) {
      std::vector<Coordinates> next;
      const EnumerationEnd end = part(each, [&](const Coordinates& point) {
        next.push_back(point);
        return static_cast<std::int64_t>(next.size() + all.size()) <= kMaxKeptPoints;
      });
      if (end != EnumerationEnd::kComplete) return EnumerationEnd::kTooLarge;
      if (join == DeclarationTree::Join::kExcept) {
        remove_points(next, all);
        continue;
      }
      if (join == DeclarationTree::Join::kOr) remove_points(all, next);
      all.insert(all.end(), next.begin(), next.end());
    }
    for (const Coordinates& point : all) {
      if (!f(point)) return EnumerationEnd::kStopped;
    }
    return EnumerationEnd::kComplete;
  }
  static void remove_points(std::vector<Coordinates> removed, std::vector<Coordinates>& from) {
    std::sort(removed.begin(), removed.end());
    std::erase_if(from, [&](const Coordinates& point) {
      return std::binary_search(removed.begin(), removed.end(), point);
    });
  }

  EnumerationEnd part(const PartTree& tree, const PointFunction& f) {
    switch (tree.kind) {
      case PartTree::Kind::kLoops:
        return loops(tree, f);
      case PartTree::Kind::kDigits:
        return digits(tree, f);
      case PartTree::Kind::kReference:
        break;
    }
    const auto found = std::find_if(trees_.begin(), trees_.end(),
                                    [&](const auto& each) { return each.name == tree.name; });
    std::vector<std::int64_t> values;
    for (const Expression& each : tree.arguments) values.push_back(evaluate_parameter(each));
    if (failed_) return EnumerationEnd::kTooLarge;
    return Enumerator(trees_, left_).declaration(*found, values, f);
  }

  // A nest of loops with its expressions resolved.
  struct Nest {
    struct Loop {
      std::optional<Expression> low;
      Expression high;
      bool low_is_excluded, high_is_excluded;
    };
    std::vector<Loop> loops;
    std::optional<Expression> where;
    Expression head;
  };

  EnumerationEnd loops(const PartTree& tree, const PointFunction& f) {
    Nest nest;
    std::vector<NameInScope> scope = parameters_;
    for (const LoopTree& loop : tree.loops) {
      nest.loops.push_back({loop.low ? std::optional(resolved(*loop.low, scope)) : std::nullopt,
                            resolved(loop.high, scope), loop.low_is_excluded,
                            loop.high_is_excluded});
      scope.push_back({loop.name, 1});
    }
    if (tree.where) nest.where = resolved(*tree.where, scope);
    nest.head = resolved(tree.head, scope);
    std::vector<std::int64_t> given = values_;
    return loop(nest, given, f);
  }

  // Runs the loop behind the counters that `given` has already.
  EnumerationEnd loop(const Nest& nest, std::vector<std::int64_t>& given, const PointFunction& f) {
    const std::size_t depth = given.size() - values_.size();
    if (--*left_ < 0) return EnumerationEnd::kTooLarge;
    if (depth == nest.loops.size()) {
      if (nest.where && evaluate(*nest.where, given).items[0] == 0 && !failed_) {
        return EnumerationEnd::kComplete;
      }
      return give(evaluate(nest.head, given), f);
    }
    const Nest::Loop& here = nest.loops[depth];
    std::int64_t counter = here.low ? evaluate(*here.low, given).items[0] : 0;
    if (here.low_is_excluded) ++counter;
    const std::int64_t high = evaluate(here.high, given).items[0];
    if (failed_) return EnumerationEnd::kTooLarge;
    for (; here.high_is_excluded ? counter < high : counter <= high; ++counter) {
      given.push_back(counter);
      const EnumerationEnd end = loop(nest, given, f);
      given.pop_back();
      if (end != EnumerationEnd::kComplete) return end;
    }
    return EnumerationEnd::kComplete;
  }

  EnumerationEnd digits(const PartTree& tree, const PointFunction& f) {
    std::vector<NameInScope> coordinates;
    for (const Node& node : tree.head.nodes) {
      const auto is_it = [&](const NameInScope& each) { return each.name == node.names.front(); };
      if (node.operation == Operation::kName &&
          std::none_of(parameters_.begin(), parameters_.end(), is_it) &&
          std::none_of(coordinates.begin(), coordinates.end(), is_it)) {
        coordinates.push_back({node.names.front(), 1});
      }
    }
    std::vector<NameInScope> scope = parameters_;
    scope.insert(scope.end(), coordinates.begin(), coordinates.end());
    const std::int64_t base = evaluate_parameter(tree.base);
    std::vector<Coordinates> table;
    for (const Expression& each : tree.table) {
      table.push_back(evaluate(resolved(each, parameters_), values_).items);
    }
    if (tree.where) table = matching_digits(tree, scope, coordinates.size(), base);
    const Expression head = resolved(tree.head, scope);
    if (failed_) return EnumerationEnd::kTooLarge;
    return level(evaluate_parameter(tree.levels), base, table, coordinates.size(), {}, head, f);
  }

  // Tries all digits at one place; the first coordinate runs fastest.
  std::vector<Coordinates> matching_digits(const PartTree& tree,
                                           const std::vector<NameInScope>& scope,
                                           std::size_t dimensions, std::int64_t base) {
    std::vector<Coordinates> table;
    const Expression condition = resolved(*tree.where, scope);
    std::vector<std::int64_t> given = values_;
    given.resize(scope.size());
    while (true) {
      if (evaluate(condition, given).items[0] != 0) {
        Coordinates digits{};
        std::copy_n(given.begin() + static_cast<std::ptrdiff_t>(values_.size()), dimensions,
                    digits.begin());
        table.push_back(digits);
      }
      std::size_t d = values_.size();
      while (d < given.size() && ++given[d] == base) given[d++] = 0;
      if (d == given.size()) return table;
    }
  }

  // Runs the loops over the digits of `levels` places below the higher ones.
  EnumerationEnd level(std::int64_t levels, std::int64_t base,
                       const std::vector<Coordinates>& table, std::size_t dimensions,
                       const Coordinates& higher, const Expression& head, const PointFunction& f) {
    if (--*left_ < 0) return EnumerationEnd::kTooLarge;
    if (levels == 0) {
      std::vector<std::int64_t> given = values_;
      given.insert(given.end(), higher.begin(),
                   higher.begin() + static_cast<std::ptrdiff_t>(dimensions));
      return give(evaluate(head, given), f);
    }
    for (const Coordinates& digits : table) {
      Coordinates next{};
      for (std::size_t d = 0; d < dimensions; ++d) next[d] = higher[d] * base + digits[d];
      const EnumerationEnd end = level(levels - 1, base, table, dimensions, next, head, f);
      if (end != EnumerationEnd::kComplete) return end;
    }
    return EnumerationEnd::kComplete;
  }

  const std::vector<DeclarationTree>& trees_;
  std::int64_t* left_;
  std::vector<std::int64_t> values_;
  std::vector<NameInScope> parameters_;
  Evaluator evaluator_;
  bool failed_ = false;
};

}  // namespace

EnumerationEnd enumerate_points(const std::vector<DeclarationTree>& trees,
                                const DeclarationTree& tree,
                                const std::vector<std::int64_t>& values, const PointFunction& f) {
  std::int64_t left = kMaxIterations;
  return Enumerator(trees, &left).declaration(tree, values, f);
}

}  // namespace groma::domains
