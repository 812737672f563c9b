// Fits formulas to some executions of a launch statement, and compares them with all executions.
#include "recording/launch_formulas.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

namespace groma::app {
namespace {

// Limits how often a formula is fitted again. Also limits how many of the executions at which the
// formula was wrong are then added to its samples.
constexpr std::size_t kMostRefits = 8;
// Limit on the points at which a formula is compared with the recorded colours.
constexpr std::size_t kMostCompared = std::size_t{1} << 24;

}  // namespace

// In the numbers of a launch, the extents of the domain follow its lower corner.
Point extents_of(const Events::Launch& launch, std::size_t dimensions) {
  return Point(std::span(launch.numbers).subspan(dimensions, dimensions));
}

// Returns true if all executions have the same launch, so that constants describe it.
bool LaunchExecutions::are_all_one_launch() const {
  return std::adjacent_find(launches.begin(), launches.end(), std::not_equal_to<>()) ==
         launches.end();
}

// Returns the number of dimensions of the launches' domains. All executions of a statement have the
// same shape, so the first one decides.
std::size_t LaunchFormulas::dimensions() const {
  return events_.shapes[events_.launches[runs_.launches.front()].shape].dimensions;
}

// Returns the executions that serve as samples, as positions. These are all executions if they are
// few. Otherwise they are the first executions, and those in which at most one counter or argument
// is not 0: they show the slope of a single variable. `samples_each` is the number of samples that
// one execution gives.
std::vector<std::uint32_t> LaunchFormulas::choose_sample_executions(
    std::size_t samples_each) const {
  std::vector<std::uint32_t> chosen;
  if (runs_.are_all_one_launch() && names_.size() == runs_.loops) return {0};
  const std::size_t most =
      std::max<std::size_t>(2, kMostSamples / std::max<std::size_t>(1, samples_each));
  const std::size_t width = names_.size();
  std::size_t lone = 0;
  for (std::size_t i = 0; i < runs_.launches.size(); ++i) {
    const auto at = std::span(runs_.variable_values).subspan(i * width, width);
    const auto moved = std::count_if(at.begin(), at.end(), [](std::int64_t x) { return x != 0; });
    if (i < most || (moved <= 1 && lone++ < most)) chosen.push_back(static_cast<std::uint32_t>(i));
  }
  return chosen;
}

FittedFormula LaunchFormulas::fit_launch_number(std::size_t position,
                                                std::span<const std::int64_t> periods) const {
  const auto number_of = [&](std::uint32_t launch) {
    const auto& numbers = events_.launches[launch].numbers;
    return std::optional(position < numbers.size() ? numbers[position] : 0);
  };
  return fit_number(number_of, periods);
}

// Fits a formula to some executions and compares it with all of them. If no fitted formula is right
// at all executions, returns the simple formula that is right at most of them.
FittedFormula LaunchFormulas::fit_number(const NumberOfLaunch& number_of,
                                         std::span<const std::int64_t> periods) const {
  const auto samples_of = [&](const std::vector<std::uint32_t>& chosen) {
    Samples samples{names_, {}, {}};
    for (const std::uint32_t i : chosen) {
      const std::optional<std::int64_t> number = number_of(runs_.launches[i]);
      if (!number) continue;
      samples.add(std::span(runs_.variable_values).subspan(i * names_.size(), names_.size()),
                  *number);
    }
    return samples;
  };
  if (runs_.are_all_one_launch()) return {Formula(number_of(runs_.launches.front()).value_or(0))};
  const Samples chosen = samples_of(choose_sample_executions(1));
  std::vector<std::uint32_t> numbers(runs_.launches.size());
  std::iota(numbers.begin(), numbers.end(), 0);
  const Samples all = samples_of(numbers);
  const auto formula = fit_formula(chosen, periods);
  if (formula && matches_all_samples(*formula, all))
    return {*formula, true, all.count(), all.count()};
  std::vector<Formula> near = approximate_formulas(chosen, periods);
  if (formula) near.push_back(*formula);
  FittedFormula best{near.front(), false, count_matching_samples(near.front(), all), all.count()};
  for (const Formula& each : std::span(near).subspan(1)) {
    const std::size_t right = count_matching_samples(each, all);
    if (right <= best.right) continue;
    best.right = right;
    best.formula = each;
  }
  return best;
}

// Adds one sample for each point of the execution `run`. The variables are the loop counters, the
// arguments of the task and the coordinates of the point. The value is one coordinate of the colour
// that the point has in `table`. Points whose colour was not seen are left out.
void LaunchFormulas::add_point_samples(std::uint32_t run, const ColorTable& table,
                                       std::size_t coordinate, Samples& samples) const {
  const Events::Launch& launch = events_.launches[runs_.launches[run]];
  const std::size_t dimensions = this->dimensions();
  const std::size_t width = names_.size();
  const LaunchDomain domain = events_.domain_of(launch);
  const auto volume = static_cast<std::size_t>(domain.count());
  if (volume == 0) return;
  const auto begin = runs_.variable_values.begin() + static_cast<std::ptrdiff_t>(run * width);
  std::vector<std::int64_t> at(begin, begin + static_cast<std::ptrdiff_t>(width));
  at.resize(width + dimensions);
  Point point = domain.first_point();
  std::size_t number = table.begin + table.before * volume + coordinate;
  for (std::size_t p = 0; p < volume; ++p, number += table.colors) {
    for (std::size_t d = 0; d < dimensions; ++d) at[width + d] = point[static_cast<int>(d)];
    if (launch.numbers[number] != kNoNumber) samples.add(at, launch.numbers[number]);
    next_point(domain, &point);
  }
}

// Counts the points of all executions at which a formula is right, up to kMostCompared points.
LaunchFormulas::FormulaAgreement LaunchFormulas::score_of(
    const Formula& formula, const ColorTable& table, std::size_t coordinate,
    const std::vector<std::string>& names) const {
  FormulaAgreement score;
  // If all executions are the same launch and the task has no arguments, the first execution stands
  // for all executions.
  const std::size_t last =
      runs_.are_all_one_launch() && names_.size() == runs_.loops ? 1 : runs_.launches.size();
  for (std::uint32_t i = 0; i < last && score.all < kMostCompared; ++i) {
    Samples samples{names, {}, {}};
    add_point_samples(i, table, coordinate, samples);
    const std::size_t right = count_matching_samples(formula, samples);
    if (right < samples.count() && score.wrong.size() < kMostRefits) score.wrong.push_back(i);
    score.right += right;
    score.all += samples.count();
  }
  return score;
}

// Fits a formula to the colours of some points and compares it with the colours of all points. If
// the formula is wrong for some executions, they become samples and the fit is repeated.
FittedFormula LaunchFormulas::fit_point_color_coordinate(
    const ColorTable& table, std::size_t coordinate, const std::vector<std::string>& index,
    std::span<const std::int64_t> periods) const {
  std::vector<std::string> names = names_;
  names.insert(names.end(), index.begin(), index.end());
  std::size_t largest = 0;
  for (const std::uint32_t launch : runs_.launches) {
    const Point size = extents_of(events_.launches[launch], dimensions());
    const auto volume = Rect{Point::zeros(size.dimensions()), size}.volume();
    largest = std::max(largest, static_cast<std::size_t>(volume));
  }
  Samples samples{names, {}, {}};
  const auto add = [&](std::uint32_t run) {
    if (samples.count() < 4 * kMostSamples) add_point_samples(run, table, coordinate, samples);
  };
  for (const std::uint32_t run : choose_sample_executions(largest)) add(run);
  // If no formula is right everywhere, the best one of those that were tried is returned.
  std::vector<std::pair<Formula, FormulaAgreement>> tried;
  for (std::size_t refits = 0; refits < kMostRefits; ++refits) {
    auto formula = fit_formula(samples, periods);
    if (!formula) break;
    FormulaAgreement score = score_of(*formula, table, coordinate, names);
    if (score.right == score.all) return {*formula, true, score.right, score.all};
    for (const std::uint32_t run : score.wrong) add(run);
    tried.emplace_back(*std::move(formula), std::move(score));
  }
  const std::vector<Formula> near = approximate_formulas(samples, periods);
  Formula best = near.front();
  FormulaAgreement most = score_of(best, table, coordinate, names);
  const auto take_if_better = [&](const Formula& formula, FormulaAgreement score) {
    if (score.right <= most.right) return;
    most = std::move(score);
    best = formula;
  };
  for (const Formula& each : std::span(near).subspan(1)) {
    take_if_better(each, score_of(each, table, coordinate, names));
  }
  for (auto& [formula, score] : tried) take_if_better(formula, std::move(score));
  return {best, false, most.right, most.all};
}

}  // namespace groma::app
