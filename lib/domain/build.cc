// Builds the map of a declaration from its tree and the values of its parameters.
#include "domain/build.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "domain/composed_maps.h"
#include "domain/digit_map.h"
#include "domain/loop_map.h"
#include "domain/polynomial.h"

namespace groma::domains {
namespace {

// Limit on the domains inside one another by their names, and on the parts of all of them.
constexpr int kMaxReferences = 16, kMaxBuiltParts = 1000;
// With more parts than this, it is not tried which other parameters would do.
constexpr int kMaxTriedParts = 40;

std::string point_words(const Coordinates& point, int dimensions) {
  std::vector<std::int64_t> items(point.begin(), point.begin() + dimensions);
  return fmt::format("({})", fmt::join(items, ", "));
}

class Builder {
 public:
  // In a probe, only sizes matter: points are not looked at, and nothing is reported.
  // `built_parts` counts the parts of all domains that are built for one.
  Builder(const std::vector<DeclarationTree>& trees, Diagnostics& diags, bool is_probe,
          int* built_parts)
      : trees_(trees), diags_(diags), is_probe_(is_probe), built_parts_(built_parts) {}

  // Returns null after an error.
  PointMapPtr declaration(const DeclarationTree& tree, const std::vector<std::int64_t>& values,
                          int depth) {
    tree_ = &tree;
    values_ = &values;
    parameters_.clear();
    for (const auto& parameter : tree.parameters) parameters_.push_back({parameter.name, 1});
    PointMapPtr map = parts(tree, depth);
    if (map && tree.by) map = explicit_map(tree, std::move(map));
    return map;
  }

  bool is_too_large() const { return is_too_large_; }

 private:
  template <typename... Arguments>
  Diagnostic& report(DiagId id, Range range, const Arguments&... arguments) {
    return diags_.report(id, range, arguments...);
  }
  PointMapPtr too_large(Range range, std::string_view why) {
    is_too_large_ = true;
    report(DiagId::kDomainSize, range, tree_->name, why);
    return nullptr;
  }

  // Evaluates an expression of the parameters.
  std::optional<Value> evaluate(Expression expression) {
    if (!resolve(expression, parameters_, diags_)) return std::nullopt;
    Value value;
    if (evaluator_.evaluate(expression, *values_, &value)) return value;
    report(DiagId::kDomainValue, evaluator_.fault().range, words_of(evaluator_.fault().kind));
    return std::nullopt;
  }
  std::optional<std::int64_t> evaluate_integer(const Expression& expression) {
    const auto value = evaluate(expression);
    if (!value) return std::nullopt;
    if (value->width == 1) return value->items[0];
    report(DiagId::kTypeMismatch, expression.top().range, "this place", "an integer", "a tuple");
    return std::nullopt;
  }

  // ---- Parts

  PointMapPtr parts(const DeclarationTree& tree, int depth) {
    using Join = DeclarationTree::Join;
    std::vector<PointMapPtr> joined;
    bool is_exhaustive = false;
    for (const auto& [join, part] : tree.parts) {
      if (++*built_parts_ > kMaxBuiltParts) {
        report(DiagId::kDomainSize, part.range, tree.name,
               fmt::format("it is made of more than {} parts", kMaxBuiltParts));
        return nullptr;
      }
      PointMapPtr next = this->part(part, depth);
      if (!next) return nullptr;
      if (!joined.empty() && next->dimensions() != joined.front()->dimensions()) {
        report(DiagId::kTypeMismatch, part.range, "this part",
               fmt::format("points of {} coordinates", joined.front()->dimensions()),
               fmt::format("{}", next->dimensions()));
        return nullptr;
      }
      if (join == Join::kExcept || join == Join::kOr) {
        if (!combine(join, part, std::move(next), &joined)) return nullptr;
        continue;
      }
      for (const PointMapPtr& other : joined) {
        if (is_probe_) break;
        const Overlap overlap = find_overlap(*other, *next);
        if (!overlap.is_known) {
          return too_large(part.range, "it cannot be told whether its parts share points");
        }
        if (overlap.shared) {
          report(DiagId::kDomainParts, part.range, tree.name,
                 point_words(*overlap.shared, next->dimensions()))
              .help("write `or` for `then` to leave out the points that are there already");
          return nullptr;
        }
        is_exhaustive = is_exhaustive || overlap.is_exhaustive;
      }
      joined.push_back(std::move(next));
      if (!count_fits(joined)) return too_large(part.range, "it has more than 2^63-1 points");
    }
    if (joined.size() == 1) return joined.front();
    return make_union(std::move(joined),
                      is_exhaustive ? "the parts share no point, as each was looked at"
                                    : "the parts share no point, by their bounds",
                      is_exhaustive);
  }

  static bool count_fits(const std::vector<PointMapPtr>& parts) {
    std::int64_t sum = 0;
    return std::all_of(parts.begin(), parts.end(), [&](const PointMapPtr& part) {
      return !__builtin_add_overflow(sum, part->count(), &sum);
    });
  }

  // Joins a part by `or` or `except`. Looks at each point only if there are other sets than boxes.
  bool combine(DeclarationTree::Join join, const PartTree& tree, PointMapPtr next,
               std::vector<PointMapPtr>* joined) {
    if (join == DeclarationTree::Join::kOr) {
      const auto taken = boxes_of(*joined);
      PointMapPtr rest = taken ? next->without(*taken) : nullptr;
      if (!rest && is_probe_) return true;
      if (!rest) {
        const std::vector<PointMapPtr> others = *joined;
        rest = subset(tree, std::move(next), [&](const Coordinates& point) {
          return std::none_of(others.begin(), others.end(),
                              [&](const PointMapPtr& other) { return other->rank(point) >= 0; });
        });
      }
      if (!rest) return false;
      joined->push_back(std::move(rest));
      if (count_fits(*joined)) return true;
      too_large(tree.range, "it has more than 2^63-1 points");
      return false;
    }
    const auto taken = next->boxes();
    for (PointMapPtr& part : *joined) {
      PointMapPtr rest = taken ? part->without(*taken) : nullptr;
      if (!rest && is_probe_) continue;
      if (!rest) {
        rest = subset(tree, part, [&](const Coordinates& point) { return next->rank(point) < 0; });
      }
      if (!rest) return false;
      part = std::move(rest);
    }
    return true;
  }

  // Returns the boxes of which the parts consist, or nullopt if they are not boxes or too many.
  static std::optional<std::vector<Box>> boxes_of(const std::vector<PointMapPtr>& parts) {
    std::vector<Box> all;
    for (const PointMapPtr& part : parts) {
      const auto more = part->boxes();
      if (!more || all.size() + more->size() > kMaxBoxes) return std::nullopt;
      all.insert(all.end(), more->begin(), more->end());
    }
    return all;
  }

  template <typename Keep>
  PointMapPtr subset(const PartTree& tree, PointMapPtr inner, const Keep& keep) {
    if (inner->count() > kMaxChosenFrom) {
      return too_large(
          tree.range,
          fmt::format("points are chosen from {}, and at most 2^28 are looked at", inner->count()));
    }
    return make_subset(std::move(inner),
                       [&](const Coordinates& point) { return keep(point) ? 1 : 0; });
  }

  PointMapPtr part(const PartTree& tree, int depth) {
    switch (tree.kind) {
      case PartTree::Kind::kLoops:
        return loops(tree);
      case PartTree::Kind::kDigits:
        return digits(tree);
      case PartTree::Kind::kReference:
        break;
    }
    return reference(tree, depth);
  }

  PointMapPtr reference(const PartTree& tree, int depth) {
    const auto found = std::find_if(trees_.begin(), trees_.end(),
                                    [&](const auto& each) { return each.name == tree.name; });
    // Only earlier declarations can be named, so that no domain contains itself.
    if (found == trees_.end() || &*found >= tree_) {
      report(found == trees_.end() ? DiagId::kUnknownName : DiagId::kUseBeforeStatement, tree.range,
             tree.name);
      return nullptr;
    }
    if (depth == kMaxReferences) {
      report(DiagId::kNestingTooDeep, tree.range, kMaxReferences);
      return nullptr;
    }
    if (tree.arguments.size() != found->parameters.size()) {
      report(DiagId::kWrongArgumentCount, tree.range, tree.name,
             fmt::format("{} parameters", found->parameters.size()), tree.arguments.size());
      return nullptr;
    }
    std::vector<std::int64_t> values;
    for (const Expression& argument : tree.arguments) {
      const auto value = evaluate_integer(argument);
      if (!value) return nullptr;
      values.push_back(*value);
    }
    Builder inner(trees_, diags_, is_probe_, built_parts_);
    PointMapPtr map = inner.declaration(*found, values, depth + 1);
    is_too_large_ = is_too_large_ || inner.is_too_large_;
    return map;
  }

  // ---- Loops

  // Returns the polynomial of an expression of parameters and counters.
  std::optional<Polynomial> polynomial(const Expression& expression, std::uint32_t number) {
    const Node& node = expression.nodes[number];
    const auto child = [&](std::size_t i) { return polynomial(expression, node.children[i]); };
    std::optional<Polynomial> result;
    switch (node.operation) {
      case Operation::kNumber:
        return Polynomial::constant(node.number);
      case Operation::kName:
        return Polynomial::variable(static_cast<std::size_t>(node.number));
      case Operation::kNegate: {
        const auto operand = child(0);
        if (!operand) return std::nullopt;
        result = operand->times(Rational{-1, 1});
        break;
      }
      case Operation::kAdd:
      case Operation::kSubtract:
      case Operation::kMultiply: {
        const auto left = child(0), right = left ? child(1) : std::nullopt;
        if (!right) return std::nullopt;
        result = node.operation == Operation::kAdd        ? left->plus(*right)
                 : node.operation == Operation::kSubtract ? left->minus(*right)
                                                          : left->times(*right);
        break;
      }
      default:
        report(DiagId::kDomainBound, node.range, "is not a sum of multiples of loop variables")
            .help("a bound has whole numbers, parameters, outer loop variables, `+`, `-` and `*`");
        return std::nullopt;
    }
    if (!result) too_large(node.range, "a bound does not fit");
    return result;
  }

  PointMapPtr loops(const PartTree& tree) {
    LoopNest nest;
    nest.parameters = parameters_.size();
    std::vector<NameInScope> scope = parameters_;
    for (const LoopTree& loop : tree.loops) {
      for (const NameInScope& name : scope) {
        if (name.name != loop.name) continue;
        report(DiagId::kDuplicateName, loop.range, loop.name);
        return nullptr;
      }
      if (scope.size() >= kMaxVariables) {
        report(DiagId::kProgramTooLarge, loop.range, kMaxVariables,
               "parameters and loop variables");
        return nullptr;
      }
      const auto bound = [&](Expression written) -> std::optional<Polynomial> {
        if (!resolve(written, scope, diags_)) return std::nullopt;
        return polynomial(written, written.root);
      };
      std::optional<Polynomial> first = Polynomial{};
      if (loop.low) first = bound(*loop.low);
      std::optional<Polynomial> end = first ? bound(loop.high) : std::nullopt;
      if (!end) return nullptr;
      if (loop.low_is_excluded) first = first->plus(Polynomial::constant(1));
      if (!loop.high_is_excluded) end = end->plus(Polynomial::constant(1));
      if (!first || !end) return too_large(loop.range, "a bound does not fit");
      nest.first.push_back(*first);
      nest.end.push_back(*end);
      scope.push_back({loop.name, 1});
    }
    const auto counts = count_points(nest);
    if (!counts) return too_large(tree.range, "the polynomials that count its points do not fit");
    GROMA_CHECK(counts_are_right(nest, *counts));
    auto made = make_loop_map(nest, *counts, *values_);
    if (const auto* fault = std::get_if<LoopFault>(&made)) return loop_fault(tree, *fault);
    return head(tree, std::get<PointMapPtr>(std::move(made)), scope);
  }

  PointMapPtr loop_fault(const PartTree& tree, const LoopFault& fault) {
    const LoopTree& loop = tree.loops[fault.loop];
    switch (fault.kind) {
      case LoopFault::Kind::kTooLarge:
        return too_large(loop.range, "its points cannot be counted in 63 bits");
      case LoopFault::Kind::kNegativeLength:
        report(DiagId::kDomainLength, loop.range, loop.name)
            .help(
                "begin or end the outer loops so that this one has at least 0 iterations, and "
                "join the rest with `then`; or bound it otherwise and add a condition with "
                "`where`");
        return nullptr;
      case LoopFault::Kind::kNotAffine:
        break;
    }
    report(DiagId::kDomainBound, loop.range, "multiplies loop variables")
        .help("a loop variable may be multiplied by numbers and parameters only");
    return nullptr;
  }

  // ---- Digits

  // Returns the names in the head that are not parameters, in the order of their appearance.
  std::vector<NameInScope> coordinates_of(const PartTree& tree) {
    std::vector<NameInScope> names;
    for (const Node& node : tree.head.nodes) {
      if (node.operation != Operation::kName) continue;
      const auto is_it = [&](const NameInScope& each) { return each.name == node.names.front(); };
      if (std::none_of(parameters_.begin(), parameters_.end(), is_it) &&
          std::none_of(names.begin(), names.end(), is_it)) {
        names.push_back({node.names.front(), 1});
      }
    }
    return names;
  }

  PointMapPtr digits(const PartTree& tree) {
    const std::vector<NameInScope> coordinates = coordinates_of(tree);
    const auto dimensions = static_cast<int>(coordinates.size());
    if (dimensions < 1 || dimensions > kMaxDimensions) {
      report(DiagId::kTypeMismatch, tree.head.top().range, "`digits`", "1 to 9 variables",
             fmt::format("{}", dimensions));
      return nullptr;
    }
    const auto base = evaluate_integer(tree.base), levels = evaluate_integer(tree.levels);
    if (!base || !levels) return nullptr;
    std::vector<Coordinates> table;
    const bool listed = tree.where ? matching_digits(tree, coordinates, *base, &table)
                                   : listed_digits(tree, dimensions, &table);
    if (!listed) return nullptr;
    auto made = make_digit_map(*base, *levels, dimensions, table);
    if (const auto* fault = std::get_if<DigitFaultAt>(&made)) {
      return digit_fault(tree, *fault, table, dimensions);
    }
    std::vector<NameInScope> scope = parameters_;
    scope.insert(scope.end(), coordinates.begin(), coordinates.end());
    return head(tree, std::get<PointMapPtr>(std::move(made)), scope);
  }

  bool listed_digits(const PartTree& tree, int dimensions, std::vector<Coordinates>* table) {
    for (const Expression& entry : tree.table) {
      const auto value = evaluate(entry);
      if (!value) return false;
      if (value->width != dimensions) {
        report(DiagId::kTypeMismatch, entry.top().range, "an entry",
               fmt::format("{} digits", dimensions), fmt::format("{}", value->width));
        return false;
      }
      table->push_back(value->items);
    }
    return true;
  }

  // Lists the digit vectors for which the condition is not 0; the first coordinate runs fastest.
  bool matching_digits(const PartTree& tree, const std::vector<NameInScope>& coordinates,
                       std::int64_t base, std::vector<Coordinates>* table) {
    std::vector<NameInScope> scope = parameters_;
    scope.insert(scope.end(), coordinates.begin(), coordinates.end());
    Expression condition = *tree.where;
    if (!resolve(condition, scope, diags_)) return false;
    std::int64_t cells = 1;
    for (std::size_t d = 0; d < coordinates.size(); ++d) {
      if (base < 2 || __builtin_mul_overflow(cells, base, &cells) || cells > kMaxCells) {
        report(DiagId::kDomainDigits, tree.base.top().range,
               fmt::format("the base {} is below 2, or one level has more than 2^20 cells", base));
        return false;
      }
    }
    std::vector<std::int64_t> given = *values_;
    given.resize(scope.size());
    for (std::int64_t cell = 0; cell < cells; ++cell) {
      Coordinates digits{};
      std::int64_t rest = cell;
      for (std::size_t d = 0; d < coordinates.size(); ++d) {
        digits[d] = given[parameters_.size() + d] = rest % base;
        rest /= base;
      }
      Value value;
      if (!evaluator_.evaluate(condition, given, &value)) {
        report(DiagId::kDomainValue, evaluator_.fault().range, words_of(evaluator_.fault().kind))
            .note(fmt::format("for the digits {}",
                              point_words(digits, static_cast<int>(coordinates.size()))));
        return false;
      }
      if (value.items[0] != 0) table->push_back(digits);
    }
    return true;
  }

  PointMapPtr digit_fault(const PartTree& tree, const DigitFaultAt& at,
                          const std::vector<Coordinates>& table, int dimensions) {
    const Range where = tree.where ? tree.where->top().range : tree.range;
    const auto entry = [&] {
      return point_words(table[static_cast<std::size_t>(at.place)], dimensions);
    };
    const auto entry_range = [&] {
      return tree.table.empty() ? where
                                : tree.table[static_cast<std::size_t>(at.place)].top().range;
    };
    switch (at.fault) {
      case DigitFault::kBadBase:
        report(DiagId::kDomainDigits, tree.base.top().range,
               "the base is below 2, or one level has more than 2^20 cells");
        break;
      case DigitFault::kBadLevels:
        report(DiagId::kDomainDigits, tree.levels.top().range, "the number of levels is negative");
        break;
      case DigitFault::kEmptyTable:
        report(DiagId::kDomainDigits, where, "no digits satisfy the condition");
        break;
      case DigitFault::kRepeatedEntry:
        report(DiagId::kDomainDigits, entry_range(),
               fmt::format("the digits {} are listed twice", entry()));
        break;
      case DigitFault::kBadEntry:
        report(DiagId::kDomainDigits, entry_range(),
               fmt::format("{} is not made of digits of the base", entry()));
        break;
      case DigitFault::kTooLarge:
        return too_large(tree.levels.top().range,
                         fmt::format("its points or coordinates do not fit 63 bits; at most {} "
                                     "levels do",
                                     at.place));
    }
    return nullptr;
  }

  // ---- The coordinates, and the condition of loops

  // Applies the head of a part to the counters, and leaves out the points for which the condition
  // of a part with loops is 0.
  PointMapPtr head(const PartTree& tree, PointMapPtr inner, const std::vector<NameInScope>& scope) {
    if (tree.where && tree.kind == PartTree::Kind::kLoops && !is_probe_) {
      inner = matching_points(tree, std::move(inner), scope);
      if (!inner) return nullptr;
    }
    Expression written = tree.head;
    if (!resolve(written, scope, diags_)) return nullptr;
    std::vector<std::uint32_t> items = {written.root};
    if (written.top().operation == Operation::kTuple) items = written.top().children;
    std::vector<Coordinates> factors;
    Coordinates offsets{};
    for (std::uint32_t item : items) {
      const auto coordinate = polynomial(written, item);
      if (!coordinate) return nullptr;
      Coordinates row{};
      const auto form = coordinate->with_values(*values_);
      if (form && form->as_linear_form() &&
          !affine_row(*coordinate, &row, &offsets[factors.size()])) {
        return too_large(written.nodes[item].range, "its coordinates do not fit 63 bits");
      }
      if (!affine_row(*coordinate, &row, &offsets[factors.size()])) {
        report(DiagId::kDomainBound, written.nodes[item].range, "multiplies loop variables")
            .help("a coordinate is a sum of multiples of the variables");
        return nullptr;
      }
      factors.push_back(row);
    }
    if (is_unit(factors, offsets, inner->dimensions())) return inner;
    PointMapPtr image = make_affine_image(std::move(inner), factors, offsets);
    if (image == nullptr) {
      report(DiagId::kDomainBound, tree.head.top().range,
             "gives two points the same coordinates, or coordinates that do not fit")
          .help("the coordinates must determine each loop variable");
    }
    return image;
  }

  // Reads the factors of the counters and the constant, with the values of the parameters.
  bool affine_row(const Polynomial& polynomial, Coordinates* row, std::int64_t* offset) {
    const auto numeric = polynomial.with_values(*values_);
    const auto form = numeric ? numeric->as_linear_form() : std::nullopt;
    constexpr std::int64_t kMost = std::int64_t{1} << 61;
    const auto is_moderate = [](Int128 number) { return number <= kMost && number >= -kMost; };
    if (!form || !is_moderate(form->constant) ||
        !std::all_of(form->factors.begin(), form->factors.end(), is_moderate)) {
      return false;
    }
    *offset = static_cast<std::int64_t>(form->constant);
    for (std::size_t v = values_->size(); v < kMaxVariables; ++v) {
      const auto counter = v - values_->size();
      if (counter < row->size()) (*row)[counter] = static_cast<std::int64_t>(form->factors[v]);
    }
    return true;
  }

  // Returns true if the coordinates are the counters in their order.
  static bool is_unit(const std::vector<Coordinates>& factors, const Coordinates& offsets,
                      int dimensions) {
    if (static_cast<int>(factors.size()) != dimensions) return false;
    for (std::size_t i = 0; i < factors.size(); ++i) {
      Coordinates unit{};
      unit[i] = 1;
      if (offsets[i] != 0 || factors[i] != unit) return false;
    }
    return true;
  }

  PointMapPtr matching_points(const PartTree& tree, PointMapPtr inner,
                              const std::vector<NameInScope>& scope) {
    Expression condition = *tree.where;
    if (!resolve(condition, scope, diags_)) return nullptr;
    if (inner->count() > kMaxChosenFrom) {
      return too_large(
          condition.top().range,
          fmt::format("a condition chooses from {} points, and at most 2^28 are looked "
                      "at",
                      inner->count()));
    }
    std::vector<std::int64_t> given = *values_;
    given.resize(scope.size());
    const int dimensions = inner->dimensions();
    const std::int64_t all = inner->count();
    PointMapPtr kept = make_subset(std::move(inner), [&](const Coordinates& point) {
      std::copy_n(point.begin(), dimensions,
                  given.begin() + static_cast<std::ptrdiff_t>(values_->size()));
      Value value;
      if (evaluator_.evaluate(condition, given, &value)) return value.items[0] != 0 ? 1 : 0;
      report(DiagId::kDomainValue, evaluator_.fault().range, words_of(evaluator_.fault().kind))
          .note(fmt::format("for the loop variables {}", point_words(point, dimensions)));
      return -1;
    });
    if (kept != nullptr && kept->count() == 0 && all > 0) {
      report(DiagId::kEmptyDomain, condition.top().range, fmt::format("`{}`", tree_->name))
          .note(fmt::format("none of the {} points of the loops satisfies the condition", all));
      return nullptr;
    }
    return kept;
  }

  // ---- A map by an expression

  PointMapPtr explicit_map(const DeclarationTree& tree, PointMapPtr inner) {
    std::vector<NameInScope> scope = parameters_;
    if (tree.by->variables.size() != 1) {
      report(DiagId::kTypeMismatch, tree.by->value.top().range, "`by`", "one variable",
             fmt::format("{}", tree.by->variables.size()));
      return nullptr;
    }
    scope.push_back({tree.by->variables.front(), 1});
    Expression value = tree.by->value;
    if (!resolve(value, scope, diags_)) return nullptr;
    if (value.width() != inner->dimensions()) {
      report(DiagId::kTypeMismatch, value.top().range, "`by`",
             fmt::format("{} coordinates", inner->dimensions()), fmt::format("{}", value.width()));
      return nullptr;
    }
    if (is_probe_) return inner;
    if (inner->count() > kMaxExplicit) {
      return too_large(value.top().range,
                       fmt::format("a map by an expression is proved by looking at each point; it "
                                   "has {}, and at most 2^22 are looked at",
                                   inner->count()));
    }
    auto made = make_explicit_map(std::move(inner), value, *values_);
    const auto* fault = std::get_if<MapFault>(&made);
    if (fault == nullptr) return std::get<PointMapPtr>(std::move(made));
    if (fault->fault.kind != FaultKind::kNone) {
      report(DiagId::kDomainValue, fault->fault.range, words_of(fault->fault.kind))
          .note(fmt::format("for {} = {}", tree.by->variables.front(), fault->k));
      return nullptr;
    }
    const std::string point = point_words(fault->point, value.width());
    report(DiagId::kDomainMap, value.top().range, tree.name,
           fault->earlier < 0
               ? fmt::format("{} is {}, which is not in the domain", fault->k, point)
               : fmt::format("{} and {} are both {}", fault->earlier, fault->k, point));
    return nullptr;
  }

  const std::vector<DeclarationTree>& trees_;
  Diagnostics& diags_;
  const bool is_probe_;
  int* const built_parts_;
  const DeclarationTree* tree_ = nullptr;
  const std::vector<std::int64_t>* values_ = nullptr;
  std::vector<NameInScope> parameters_;
  Evaluator evaluator_;
  bool is_too_large_ = false;
};

// Adds to a diagnostic the largest value of each parameter with which the domain fits.
void add_largest_values(const std::vector<DeclarationTree>& trees, const DeclarationTree& tree,
                        const std::vector<std::int64_t>& values, Diagnostic& diagnostic) {
  for (std::size_t p = 0; p < values.size(); ++p) {
    const auto fits = [&](std::int64_t value) {
      Diagnostics ignored{Source()};
      std::vector<std::int64_t> tried = values;
      tried[p] = value;
      int parts = 0;
      return Builder(trees, ignored, true, &parts).declaration(tree, tried, 0) != nullptr;
    };
    std::int64_t low = 0, high = values[p];
    if (high <= 0 || !fits(0)) continue;
    while (high - low > 1) {
      const std::int64_t middle = low + (high - low) / 2;
      (fits(middle) ? low : high) = middle;
    }
    diagnostic.help(fmt::format("`{}` may be at most {}", tree.parameters[p].name, low));
  }
}

}  // namespace

PointMapPtr build(const std::vector<DeclarationTree>& trees, const DeclarationTree& tree,
                  const std::vector<std::int64_t>& values, Diagnostics& diags) {
  Diagnostics found(diags.source());
  int parts = 0;
  Builder builder(trees, found, false, &parts);
  PointMapPtr map = builder.declaration(tree, values, 0);
  // A probe tells whether the sizes of numbers are the cause, for which other parameters help.
  Diagnostics ignored(diags.source());
  int probed_parts = 0;
  Builder probe(trees, ignored, true, &probed_parts);
  const bool helps = builder.is_too_large() && parts <= kMaxTriedParts &&
                     probe.declaration(tree, values, 0) == nullptr && probe.is_too_large();
  for (const Diagnostic& each : found.all()) {
    Diagnostic& added = diags.add(each.id, each.range, each.args);
    added.notes = each.notes;
    added.helps = each.helps;
    added.fixes = each.fixes;
    if (helps && each.id == DiagId::kDomainSize) add_largest_values(trees, tree, values, added);
  }
  return map;
}

}  // namespace groma::domains
