// Builds parts of nested loops: their bounds become polynomials, their heads affine maps.
#include "domain/builder.h"
#include "groma/spelling.h"

namespace groma::domains {

// Returns the polynomial of an expression of parameters and counters.
std::optional<Polynomial> Builder::polynomial(const Expression& expression, std::uint32_t number) {
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

PointMapPtr Builder::loops(const PartTree& tree) {
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
      report(DiagId::kDomainSize, loop.range, tree_->name,
             fmt::format("it has more than {} parameters and loop variables", kMaxVariables));
      return nullptr;
    }
    const auto bound = [&](Expression written) -> std::optional<Polynomial> {
      const auto cure = [&](std::string_view name) { return cure_in_bound(tree, scope, name); };
      if (!resolve(written, scope, diags_, cure)) return std::nullopt;
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

// Returns what helps if a bound uses an unknown name: the order of the loops, or a parameter.
std::string Builder::cure_in_bound(const PartTree& tree, const std::vector<NameInScope>& scope,
                                   std::string_view name) const {
  for (const LoopTree& loop : tree.loops) {
    if (loop.name != name) continue;
    return fmt::format(
        "the bounds of a loop use parameters and the loops before it: write the loop over `{}` "
        "first",
        name);
  }
  std::vector<std::string_view> known;
  for (const NameInScope& each : scope) known.push_back(each.name);
  if (!near_names(name, known).empty()) return "";
  return fmt::format("if `{0}` is a parameter, write it behind the name: `domain {1}({0}, ...)`",
                     name, tree_->name);
}

// Returns what helps if a coordinate of the point is unknown.
std::string Builder::cure_in_head(const PartTree& tree, std::string_view name) {
  if (tree.kind != PartTree::Kind::kLoops) return "";
  return fmt::format("each variable of the point needs a loop, such as `{} < n`", name);
}

// Returns the values of the parameters as text: "n = 4, w = 2".
std::string Builder::parameter_words() const {
  std::string words;
  for (std::size_t p = 0; p < values_->size(); ++p) {
    words += fmt::format("{}{} = {}", p == 0 ? "" : ", ", parameters_[p].name, (*values_)[p]);
  }
  return words.empty() ? "these numbers" : words;
}

PointMapPtr Builder::loop_fault(const PartTree& tree, const LoopFault& fault) {
  const LoopTree& loop = tree.loops[fault.loop];
  switch (fault.kind) {
    case LoopFault::Kind::kTooLarge:
      return too_large(loop.range, "its points cannot be counted in 63 bits");
    case LoopFault::Kind::kNegativeLength:
      if (fault.loop == 0) {
        report(DiagId::kDomainLength, loop.range, loop.name)
            .note("for " + parameter_words())
            .help("give parameters with which this loop has at least 0 iterations");
        return nullptr;
      }
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

// Applies the head of a part to the counters, and leaves out the points for which the condition
// of a part with loops is 0.
PointMapPtr Builder::head(const PartTree& tree, PointMapPtr inner,
                          const std::vector<NameInScope>& scope) {
  if (tree.where && tree.kind == PartTree::Kind::kLoops && !is_probe_) {
    inner = matching_points(tree, std::move(inner), scope);
    if (!inner) return nullptr;
  }
  Expression written = tree.head;
  const auto cure = [&](std::string_view name) { return cure_in_head(tree, name); };
  if (!resolve(written, scope, diags_, cure)) return nullptr;
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
bool Builder::affine_row(const Polynomial& polynomial, Coordinates* row, std::int64_t* offset) {
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
bool Builder::is_unit(const std::vector<Coordinates>& factors, const Coordinates& offsets,
                      int dimensions) {
  if (static_cast<int>(factors.size()) != dimensions) return false;
  for (std::size_t i = 0; i < factors.size(); ++i) {
    Coordinates unit{};
    unit[i] = 1;
    if (offsets[i] != 0 || factors[i] != unit) return false;
  }
  return true;
}

PointMapPtr Builder::matching_points(const PartTree& tree, PointMapPtr inner,
                                     const std::vector<NameInScope>& scope) {
  Expression condition = *tree.where;
  if (!resolve(condition, scope, diags_)) return nullptr;
  if (inner->count() > kMaxChosenFrom) {
    return too_large(condition.top().range,
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
        .note(fmt::format("for the loop variables {}", coordinate_words(point, dimensions)));
    return -1;
  });
  if (kept != nullptr && kept->count() == 0 && all > 0) {
    report(DiagId::kEmptyDomain, condition.top().range, fmt::format("`{}`", tree_->name))
        .note(fmt::format("none of the {} points of the loops satisfies the condition", all));
    return nullptr;
  }
  return kept;
}

}  // namespace groma::domains
