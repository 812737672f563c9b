// ConditionFinder: finds a condition for the points of launches whose domains have holes.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "groma/point_set.h"
#include "recording/launch_formulas.h"

namespace groma::app {

// Finds the condition of one launch statement. It tries these forms: comparisons of sums of
// coordinates with formulas of the loop counters (`i <= j`), remainders (`(i + j) % 2 == t % 2`),
// a product of some of them, the opposite of such a product, and, if all executions have the same
// points, a list of the rows. Compares the result with all points, up to 2^24.
class ConditionFinder {
 public:
  // `formulas` must outlive this object. `index` are the names of the coordinates.
  ConditionFinder(const LaunchFormulas& formulas, std::vector<std::string> index);

  // Returns the condition, or nullopt if none of the forms is right or `points_left` is used up.
  std::optional<Formula> find(std::int64_t& points_left);

 private:
  // Limit on the constraints that are tried.
  static constexpr std::size_t kMostConstraints = 192;
  using ConstraintSet = std::bitset<kMostConstraints>;
  enum class Comparison : std::uint8_t { kEqual, kAtMost, kAtLeast };
  // A comparison of a sum of multiples of the coordinates, or of its remainder, with a bound, which
  // may differ between launches.
  struct Constraint {
    std::vector<std::int64_t> coefficients;
    Comparison comparison = Comparison::kEqual;
    // 0: the sum itself is compared.
    std::int64_t modulus = 0;

    std::int64_t value_at(const Point& point) const;
    // Returns true if the point satisfies the comparison with this bound.
    bool holds_at(const Point& point, std::int64_t bound) const;
  };
  // The bounds of a constraint, one for each distinct launch. nullopt: the launch has no point that
  // must satisfy the constraint.
  using Bounds = std::vector<std::optional<std::int64_t>>;

  void list_constraints();
  void add_direction(std::vector<std::int64_t> coefficients, bool with_remainders);
  std::optional<Bounds> bounds_of(const Constraint& constraint, bool opposite) const;
  std::optional<Formula> find_product(bool opposite);
  std::vector<std::pair<ConstraintSet, std::size_t>> exclusions(
      const std::vector<std::optional<Bounds>>& bounds, bool opposite) const;
  std::optional<Formula> formula_of_bound(const Bounds& bounds) const;
  std::string text_of(const Constraint& constraint, const Formula& bound, bool opposite) const;
  std::optional<Formula> find_rows() const;
  bool is_right(const Formula& condition) const;

  const LaunchFormulas& formulas_;
  const std::vector<std::string> index_;
  // The distinct launches of the statement, as positions in Events::launches, and their domains.
  std::vector<std::uint32_t> launches_;
  std::vector<LaunchDomain> domains_;
  std::vector<Constraint> constraints_;
};

}  // namespace groma::app
