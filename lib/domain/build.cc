// Builds the map of a declaration from its tree and the values of its parameters.
#include "domain/build.h"

#include "domain/builder.h"

namespace groma::domains {
namespace {

// Limit on the domains inside one another by their names, and on the parts of all of them.
constexpr int kMaxReferences = 16, kMaxBuiltParts = 1000;
// With more parts than this, it is not tried which other parameters would do.
constexpr int kMaxTriedParts = 40;

}  // namespace

// Returns null after an error.
PointMapPtr Builder::declaration(const DeclarationTree& tree,
                                 const std::vector<std::int64_t>& values, int depth) {
  tree_ = &tree;
  values_ = &values;
  parameters_.clear();
  for (const auto& parameter : tree.parameters) parameters_.push_back({parameter.name, 1});
  PointMapPtr map = parts(tree, depth);
  if (map && tree.by) map = explicit_map(tree, std::move(map));
  return map;
}

PointMapPtr Builder::too_large(Range range, std::string_view why) {
  is_too_large_ = true;
  report(DiagId::kDomainSize, range, tree_->name, why);
  return nullptr;
}

// Evaluates an expression of the parameters.
std::optional<Value> Builder::evaluate(Expression expression) {
  if (!resolve(expression, parameters_, diags_)) return std::nullopt;
  Value value;
  if (evaluator_.evaluate(expression, *values_, &value)) return value;
  report(DiagId::kDomainValue, evaluator_.fault().range, words_of(evaluator_.fault().kind));
  return std::nullopt;
}

std::optional<std::int64_t> Builder::evaluate_integer(const Expression& expression) {
  const auto value = evaluate(expression);
  if (!value) return std::nullopt;
  if (value->width == 1) return value->items[0];
  report(DiagId::kTypeMismatch, expression.top().range, "this place", "an integer", "a tuple");
  return std::nullopt;
}

PointMapPtr Builder::parts(const DeclarationTree& tree, int depth) {
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
               coordinate_words(*overlap.shared, next->dimensions()))
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

bool Builder::count_fits(const std::vector<PointMapPtr>& parts) {
  std::int64_t sum = 0;
  return std::all_of(parts.begin(), parts.end(), [&](const PointMapPtr& part) {
    return !__builtin_add_overflow(sum, part->count(), &sum);
  });
}

// Joins a part by `or` or `except`. Looks at each point only if there are other sets than boxes.
bool Builder::combine(DeclarationTree::Join join, const PartTree& tree, PointMapPtr next,
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
std::optional<std::vector<Box>> Builder::boxes_of(const std::vector<PointMapPtr>& parts) {
  std::vector<Box> all;
  for (const PointMapPtr& part : parts) {
    const auto more = part->boxes();
    if (!more || all.size() + more->size() > kMaxBoxes) return std::nullopt;
    all.insert(all.end(), more->begin(), more->end());
  }
  return all;
}

PointMapPtr Builder::part(const PartTree& tree, int depth) {
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

PointMapPtr Builder::reference(const PartTree& tree, int depth) {
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

PointMapPtr Builder::explicit_map(const DeclarationTree& tree, PointMapPtr inner) {
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
  const std::string point = coordinate_words(fault->point, value.width());
  report(DiagId::kDomainMap, value.top().range, tree.name,
         fault->earlier < 0
             ? fmt::format("{} is {}, which is not in the domain", fault->k, point)
             : fmt::format("{} and {} are both {}", fault->earlier, fault->k, point));
  return nullptr;
}

namespace {

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
