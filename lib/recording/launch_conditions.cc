// Finds conditions as products of few constraints. Each point that a launch lacks must violate one
// of them, so choosing the constraints is a set cover.
#include "recording/launch_conditions.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <unordered_map>

#include "app/formula.h"
#include "recording/listed_rows.h"

namespace groma::app {
namespace {

// Limit on the points of the boxes from which a condition is derived.
constexpr std::int64_t kMostDerivedFrom = std::int64_t{1} << 22;
// Limit on the points with which a condition is compared.
constexpr std::int64_t kMostConditionPoints = std::int64_t{1} << 24;
constexpr std::int64_t kLargestModulus = 8;

// Returns true if the formula is a number, and sets `number` to it.
bool is_number(const Formula& formula, std::int64_t& number) {
  const std::string& text = formula.text();
  const std::size_t first = text.find_first_not_of('-');
  if (first == text.npos || first > 1 || text.find_first_not_of("0123456789", first) != text.npos) {
    return false;
  }
  number = std::stoll(text);
  return true;
}

// Returns a sum of those multiples of the names whose coefficients have this sign.
std::string terms(const std::vector<std::int64_t>& coefficients,
                  const std::vector<std::string>& names, bool negative) {
  std::string text;
  for (std::size_t d = 0; d < names.size(); ++d) {
    const std::int64_t factor = negative ? -coefficients[d] : coefficients[d];
    if (factor <= 0) continue;
    if (!text.empty()) text += " + ";
    text += factor == 1 ? names[d] : fmt::format("{} * {}", factor, names[d]);
  }
  return text;
}

}  // namespace

std::int64_t ConditionFinder::Constraint::value_at(const Point& point) const {
  std::int64_t sum = 0;
  for (std::size_t d = 0; d < coefficients.size(); ++d) {
    sum += coefficients[d] * point[static_cast<int>(d)];
  }
  if (modulus == 0) return sum;
  return (sum % modulus + modulus) % modulus;
}

bool ConditionFinder::Constraint::holds_at(const Point& point, std::int64_t bound) const {
  const std::int64_t value = value_at(point);
  if (comparison == Comparison::kAtMost) return value <= bound;
  return comparison == Comparison::kAtLeast ? value >= bound : value == bound;
}

ConditionFinder::ConditionFinder(const LaunchFormulas& formulas, std::vector<std::string> index)
    : formulas_(formulas), index_(std::move(index)) {
  launches_ = formulas.runs_.launches;
  std::sort(launches_.begin(), launches_.end());
  launches_.erase(std::unique(launches_.begin(), launches_.end()), launches_.end());
}

std::optional<Formula> ConditionFinder::find(std::int64_t& points_left) {
  const Events& events = formulas_.events_;
  const bool is_sparse = std::any_of(launches_.begin(), launches_.end(), [&](std::uint32_t launch) {
    return events.launches[launch].sparse_domain >= 0;
  });
  if (!is_sparse) return Formula(1);
  std::int64_t points = 0;
  for (std::size_t i = 0; i < launches_.size(); ++i) {
    const LaunchDomain domain = events.domain_of(events.launches[launches_[i]]);
    points += domain.box.volume();
    // Further launches are not read. They are only compared.
    if (points > kMostDerivedFrom && i > 0) {
      launches_.resize(i);
      break;
    }
    domains_.push_back(domain);
  }
  points_left -= points;
  if (points_left < 0) return std::nullopt;
  list_constraints();
  for (const bool opposite : {false, true}) {
    auto product = find_product(opposite);
    if (product && is_right(*product)) return product;
  }
  auto rows = find_rows();
  if (rows && is_right(*rows)) return rows;
  return std::nullopt;
}

// ---- Constraints

// Lists the constraints. Those with simpler texts come first, so that they win if several exclude
// equally many points.
void ConditionFinder::list_constraints() {
  const std::size_t n = index_.size();
  const auto with_pairs = [&](std::int64_t a, std::int64_t b, bool with_remainders) {
    for (std::size_t first = 0; first < n; ++first) {
      for (std::size_t second = first + 1; second < n; ++second) {
        std::vector<std::int64_t> coefficients(n, 0);
        coefficients[first] = a;
        coefficients[second] = b;
        add_direction(std::move(coefficients), with_remainders);
      }
    }
  };
  for (std::size_t d = 0; d < n; ++d) {
    std::vector<std::int64_t> coefficients(n, 0);
    coefficients[d] = 1;
    add_direction(std::move(coefficients), true);
  }
  with_pairs(1, -1, true);
  with_pairs(1, 1, true);
  if (n == 3) {
    for (const std::int64_t b : {1, -1}) {
      for (const std::int64_t c : {1, -1}) add_direction({1, b, c}, false);
    }
  }
  with_pairs(2, -1, false);
  with_pairs(1, -2, false);
  with_pairs(2, 1, false);
  with_pairs(1, 2, false);
}

void ConditionFinder::add_direction(std::vector<std::int64_t> coefficients, bool with_remainders) {
  const auto add = [&](Comparison comparison, std::int64_t modulus) {
    if (constraints_.size() < kMostConstraints) {
      constraints_.push_back({coefficients, comparison, modulus});
    }
  };
  for (const Comparison each : {Comparison::kEqual, Comparison::kAtMost, Comparison::kAtLeast}) {
    add(each, 0);
  }
  for (std::int64_t modulus = 2; with_remainders && modulus <= kLargestModulus; ++modulus) {
    add(Comparison::kEqual, modulus);
  }
}

// Returns the tightest bound of the constraint in each launch that holds for all points that the
// launch has (with `opposite`: that it lacks). Returns nullopt if the points of a launch differ in
// a value that the constraint wants to be equal.
std::optional<ConditionFinder::Bounds> ConditionFinder::bounds_of(const Constraint& constraint,
                                                                  bool opposite) const {
  Bounds bounds;
  for (const LaunchDomain& domain : domains_) {
    std::optional<std::int64_t>& bound = bounds.emplace_back();
    const auto extend = [&](const Point& point) {
      const std::int64_t value = constraint.value_at(point);
      if (!bound) bound = value;
      if (constraint.comparison == Comparison::kEqual) return value == *bound;
      bound = constraint.comparison == Comparison::kAtMost ? std::max(*bound, value)
                                                           : std::min(*bound, value);
      return true;
    };
    if (domain.box.volume() == 0) continue;
    Point point = domain.box.lower;
    do {
      if (domain.contains(point) != opposite && !extend(point)) return std::nullopt;
    } while (next_point(domain.box, &point));
  }
  return bounds;
}

// ---- Products of constraints

// Returns the sets of constraints that points violate which must be excluded, and for each set how
// many points do.
std::vector<std::pair<ConditionFinder::ConstraintSet, std::size_t>> ConditionFinder::exclusions(
    const std::vector<std::optional<Bounds>>& bounds, bool opposite) const {
  std::unordered_map<ConstraintSet, std::size_t> counts;
  for (std::size_t i = 0; i < domains_.size(); ++i) {
    const LaunchDomain& domain = domains_[i];
    if (domain.box.volume() == 0) continue;
    // Without a point that must satisfy them, constraints have no bounds here. Whether their
    // formulas exclude all points is compared later.
    if ((opposite ? domain.box.volume() - domain.count() : domain.count()) == 0) continue;
    Point point = domain.box.lower;
    do {
      if (domain.contains(point) != opposite) continue;
      ConstraintSet violated;
      for (std::size_t c = 0; c < constraints_.size(); ++c) {
        if (!bounds[c]) continue;
        const std::optional<std::int64_t>& bound = (*bounds[c])[i];
        violated[c] = bound && !constraints_[c].holds_at(point, *bound);
      }
      ++counts[violated];
    } while (next_point(domain.box, &point));
  }
  return {counts.begin(), counts.end()};
}

// Returns a formula that gives the bound of each launch.
std::optional<Formula> ConditionFinder::formula_of_bound(const Bounds& bounds) const {
  const auto number_of = [&](std::uint32_t launch) -> std::optional<std::int64_t> {
    const auto at = std::lower_bound(launches_.begin(), launches_.end(), launch);
    if (at == launches_.end() || *at != launch) return std::nullopt;
    return bounds[static_cast<std::size_t>(at - launches_.begin())];
  };
  FittedFormula fitted = formulas_.fit_number(number_of, {});
  return fitted.is_rule ? std::optional(std::move(fitted.formula)) : std::nullopt;
}

// Chooses constraints until every point that must be excluded violates one of them. Takes the
// constraint that excludes most of the remaining points. A constraint whose bound has no formula is
// not taken again.
std::optional<Formula> ConditionFinder::find_product(bool opposite) {
  std::vector<std::optional<Bounds>> bounds;
  for (const Constraint& each : constraints_) bounds.push_back(bounds_of(each, opposite));
  const auto excluded = exclusions(bounds, opposite);
  ConstraintSet usable;
  for (std::size_t c = 0; c < constraints_.size(); ++c) usable[c] = bounds[c].has_value();
  std::map<std::size_t, Formula> chosen;
  ConstraintSet taken;
  while (true) {
    std::vector<std::size_t> gains(constraints_.size(), 0);
    bool is_done = true;
    for (const auto& [violated, points] : excluded) {
      if ((violated & taken).any()) continue;
      is_done = false;
      for (std::size_t c = 0; c < gains.size(); ++c) {
        if (violated[c] && usable[c]) gains[c] += points;
      }
    }
    if (is_done) break;
    const auto best = std::max_element(gains.begin(), gains.end());
    if (best == gains.end() || *best == 0) return std::nullopt;
    const auto constraint = static_cast<std::size_t>(best - gains.begin());
    if (auto bound = formula_of_bound(*bounds[constraint])) {
      chosen.emplace(constraint, *std::move(bound));
      taken.set(constraint);
    } else {
      usable.reset(constraint);
    }
  }
  // A constraint may have become superfluous by those that were chosen after it.
  for (std::size_t c = 0; c < constraints_.size(); ++c) {
    if (!taken[c]) continue;
    taken.reset(c);
    const bool is_needed = std::any_of(excluded.begin(), excluded.end(), [&](const auto& each) {
      return (each.first & taken).none();
    });
    if (is_needed) {
      taken.set(c);
    } else {
      chosen.erase(c);
    }
  }
  if (chosen.empty()) return std::nullopt;
  if (chosen.size() == 1) {
    const auto& [constraint, bound] = *chosen.begin();
    return Formula(text_of(constraints_[constraint], bound, opposite));
  }
  std::string text;
  for (const auto& [constraint, bound] : chosen) {
    text += fmt::format("{}({})", text.empty() ? "" : " * ",
                        text_of(constraints_[constraint], bound, false));
  }
  if (opposite) text += " == 0";
  return Formula(text);
}

// Returns the text of a constraint, or of its opposite.
std::string ConditionFinder::text_of(const Constraint& constraint, const Formula& bound,
                                     bool opposite) const {
  static constexpr const char* kSigns[] = {"==", "<=", ">="};
  static constexpr const char* kOpposites[] = {"!=", ">", "<"};
  const auto comparison = static_cast<std::size_t>(constraint.comparison);
  const std::string sign = (opposite ? kOpposites : kSigns)[comparison];
  const std::string left = terms(constraint.coefficients, index_, false);
  const std::string right = terms(constraint.coefficients, index_, true);
  if (constraint.modulus != 0) {
    std::string sum = right.empty() ? left : fmt::format("{} - {}", left, right);
    if (sum.size() > 1 && sum.find(' ') != sum.npos) sum = fmt::format("({})", sum);
    return fmt::format("{} % {} {} {}", sum, constraint.modulus, sign, bound.text());
  }
  if (right.empty()) return fmt::format("{} {} {}", left, sign, bound.text());
  std::int64_t number = 0;
  if (!is_number(bound, number)) {
    return fmt::format("{} {} {} + ({})", left, sign, right, bound.text());
  }
  if (number == 0) return fmt::format("{} {} {}", left, sign, right);
  // Whole numbers: i <= j - 1 is i < j, and i >= j + 1 is i > j.
  if (constraint.comparison == Comparison::kAtMost && number == -1) {
    return fmt::format("{} {} {}", left, opposite ? ">=" : "<", right);
  }
  if (constraint.comparison == Comparison::kAtLeast && number == 1) {
    return fmt::format("{} {} {}", left, opposite ? "<=" : ">", right);
  }
  return fmt::format("{} {} {} {} {}", left, sign, right, number < 0 ? '-' : '+',
                     number < 0 ? -number : number);
}

// ---- Lists of rows

// Returns the rows of the points as a condition if all executions have the same points.
std::optional<Formula> ConditionFinder::find_rows() const {
  for (const LaunchDomain& each : domains_) {
    if (!(each == domains_.front())) return std::nullopt;
  }
  return condition_of_rows(domains_.front(), index_);
}

// ---- Comparison with all points

bool ConditionFinder::is_right(const Formula& condition) const {
  const LaunchExecutions& runs = formulas_.runs_;
  const std::size_t width = formulas_.names_.size();
  Scope scope;
  for (const std::string& name : formulas_.names_) scope.add_variable(name);
  for (const std::string& name : index_) scope.add_variable(name);
  FormulaError error;
  const std::optional<CompiledFormula> code = compile(condition, scope, error);
  if (!code) return false;
  std::vector<std::int64_t> at(width + index_.size());
  std::int64_t compared = 0;
  const bool is_one = runs.are_all_one_launch() && width == runs.loops;
  for (std::size_t i = 0; i < (is_one ? 1 : runs.launches.size()); ++i) {
    const auto variables = std::span(runs.variable_values).subspan(i * width, width);
    std::copy(variables.begin(), variables.end(), at.begin());
    const LaunchDomain domain =
        formulas_.events_.domain_of(formulas_.events_.launches[runs.launches[i]]);
    if (domain.box.volume() == 0) continue;
    compared += domain.box.volume();
    if (i > 0 && compared > kMostConditionPoints) break;
    Point point = domain.box.lower;
    do {
      for (std::size_t d = 0; d < index_.size(); ++d) at[width + d] = point[static_cast<int>(d)];
      FormulaFault fault = FormulaFault::kNone;
      const bool is_selected = code->value(at, fault) != 0;
      if (fault != FormulaFault::kNone || is_selected != domain.contains(point)) return false;
    } while (next_point(domain.box, &point));
  }
  return true;
}

std::optional<Formula> LaunchFormulas::fit_condition(const std::vector<std::string>& index,
                                                     std::int64_t& points_left) const {
  return ConditionFinder(*this, index).find(points_left);
}

}  // namespace groma::app
