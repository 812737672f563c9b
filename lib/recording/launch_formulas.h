// LaunchFormulas: finds formulas for the numbers of a launch statement, from all its executions.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "recording/events.h"
#include "recording/fit_formula.h"

namespace groma::app {

// All recorded executions of one launch statement in the body of a task.
struct LaunchExecutions {
  // For each execution: the counters of the enclosing loops, followed by the arguments of the task.
  std::vector<std::int64_t> variable_values;
  // The launch of each execution, as an index into Events::launches.
  std::vector<std::uint32_t> launches;
  // The number of loops around the launch statement.
  std::size_t loops = 0;
  // Returns true if all executions are the same launch.
  bool are_all_one_launch() const;
};

// A table of colours within the numbers of a launch (Events::Launch::numbers). The table gives one
// requirement (with ColorRule::kMapped) a colour for each point of the launch. Its length differs
// between launches, because the number of points does.
struct ColorTable {
  // The position in the numbers of the launch at which its first table begins.
  std::size_t begin = 0;
  // How many numbers the tables before this one have for each point together.
  std::size_t before = 0;
  // How many numbers this table has for each point.
  std::size_t colors = 0;
};

// A formula, and the number of recorded values at which it is right. If no formula is right at all
// values, `is_rule` is false and `formula` is the best one that was found.
struct FittedFormula {
  Formula formula;
  bool is_rule = true;
  std::size_t right = 0, all = 0;
};

class LaunchFormulas {
 public:
  // `names` are the names of the loop counters and the task's arguments, in the order of
  // LaunchExecutions::at. `events` and `runs` must outlive this object.
  LaunchFormulas(const Events& events, const LaunchExecutions& runs, std::vector<std::string> names)
      : events_(events), runs_(runs), names_(std::move(names)) {}

  // Returns a formula that gives, for each launch, the number at `position` in its list of numbers.
  // The formula may use the counters of the enclosing loops and the arguments of the task.
  FittedFormula fit_launch_number(std::size_t position,
                                  std::span<const std::int64_t> periods = {}) const;
  // Returns a condition that selects the points of each launch among those of its box, for
  // AppLaunch::where: `1` if every launch has all points of its box. `index` are the names of the
  // coordinates. Returns nullopt if no condition was found that is right at all points, or if
  // `points_left` is used up; the points that are looked at are subtracted from it.
  std::optional<Formula> fit_condition(const std::vector<std::string>& index,
                                       std::int64_t& points_left) const;
  // Returns a formula for one coordinate of the colour of each point. It may also use the
  // coordinates of the point, which have the names `index`.
  FittedFormula fit_point_color_coordinate(const ColorTable& table, std::size_t coordinate,
                                           const std::vector<std::string>& index,
                                           std::span<const std::int64_t> periods) const;

 private:
  friend class ConditionFinder;

  // Returns a number of a launch, or nullopt if any number will do for it.
  using NumberOfLaunch = std::function<std::optional<std::int64_t>(std::uint32_t launch)>;
  FittedFormula fit_number(const NumberOfLaunch& number_of,
                           std::span<const std::int64_t> periods) const;
  // How well a formula agrees with recorded colours: the number of points at which it is right, and
  // the number of all compared points.
  struct FormulaAgreement {
    std::size_t right = 0, all = 0;
    // The first few executions that have a point at which the formula is wrong.
    std::vector<std::uint32_t> wrong;
  };

  std::vector<std::uint32_t> choose_sample_executions(std::size_t samples_each) const;
  std::size_t dimensions() const;
  void add_point_samples(std::uint32_t run, const ColorTable& table, std::size_t coordinate,
                         Samples& samples) const;
  FormulaAgreement score_of(const Formula& formula, const ColorTable& table, std::size_t coordinate,
                            const std::vector<std::string>& names) const;

  const Events& events_;
  const LaunchExecutions& runs_;
  std::vector<std::string> names_;
};

// Returns the extents of the box of a launch, which has that many dimensions.
Point extents_of(const Events::Launch& launch, std::size_t dimensions);

}  // namespace groma::app
