// Finds formulas for recorded numbers: linear and wrapped functions, a digit of a number in another
// base, the larger or smaller of two functions, and choices by conditions.
#include "recording/fit_formula.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "app/formula.h"

namespace groma::app {
namespace {

constexpr std::size_t kMostPeriods = 16;
constexpr std::int64_t kMostDigits = 64;
// Limit on the samples of a formula that consists of nested conditions.
constexpr std::size_t kMostChoices = 512;
// Limits on the work of the fits, which steps_of() estimates. They matter if there are many
// variables.
constexpr std::size_t kMostSteps = std::size_t{1} << 26, kMostDigitSteps = std::size_t{1} << 18;

// Estimates the work of fitting `count` samples: for each variable, linear() compares all
// coordinates of each sample.
std::size_t steps_of(const Samples& samples, std::size_t count) {
  return samples.names.size() * samples.names.size() * count;
}

// The function a * x + b * y + c. A variable has the coefficient 0 if no two samples differ only in
// that variable.
struct LinearFunction {
  std::vector<std::int64_t> coefficients;
  std::int64_t constant = 0;
};

// Computes a product. Returns false if it does not fit 64 bits.
bool multiply(std::int64_t a, std::int64_t b, std::int64_t& product) {
  return !__builtin_mul_overflow(a, b, &product);
}

// Returns the absolute value. The absolute value of INT64_MIN fits only without a sign.
std::uint64_t size_of(std::int64_t a) {
  const auto bits = static_cast<std::uint64_t>(a);
  return a < 0 ? 0 - bits : bits;
}

// Fits a linear function to the chosen samples. The slope of each variable comes from two
// neighbouring samples that differ only in this variable, by 1 or else by the smallest step.
// Returns nullopt if a number does not fit 64 bits. The function need not be right at the samples:
// the caller checks it.
std::optional<LinearFunction> linear(const Samples& samples, std::span<const std::size_t> chosen) {
  const std::size_t n = samples.names.size();
  LinearFunction found{std::vector<std::int64_t>(n, 0), 0};
  for (std::size_t v = 0; v < n; ++v) {
    // Maps the coordinates of a sample, with the coordinate of variable v set to 0, to the previous
    // sample that has the same coordinates apart from v.
    std::map<std::vector<std::int64_t>, std::size_t> before;
    std::int64_t best = 0;
    for (const std::size_t s : chosen) {
      const auto at = samples.point(s);
      std::vector<std::int64_t> others(at.begin(), at.end());
      others[v] = 0;
      const auto [other, is_new] = before.try_emplace(std::move(others), s);
      if (is_new) continue;
      std::int64_t step = 0, rise = 0;
      if (__builtin_sub_overflow(at[v], samples.point(other->second)[v], &step) ||
          __builtin_sub_overflow(samples.values[s], samples.values[other->second], &rise)) {
        return std::nullopt;
      }
      other->second = s;
      if (step == 0 || (best != 0 && size_of(step) >= size_of(best))) continue;
      if (step == -1 && rise == INT64_MIN) return std::nullopt;
      best = step;
      found.coefficients[v] = rise / step;
      if (size_of(step) == 1) break;
    }
  }
  found.constant = samples.values[chosen.front()];
  for (std::size_t v = 0; v < n; ++v) {
    std::int64_t part = 0;
    if (!multiply(found.coefficients[v], samples.point(chosen.front())[v], part) ||
        __builtin_sub_overflow(found.constant, part, &found.constant)) {
      return std::nullopt;
    }
  }
  return found;
}

// Returns the linear function as the text of a formula: "2 * i - j + 3".
std::string text(const LinearFunction& of, const std::vector<std::string>& names) {
  std::string words;
  const auto add = [&words](bool minus, const std::string& term) {
    if (words.empty()) {
      words = (minus ? "-" : "") + term;
    } else {
      words += (minus ? " - " : " + ") + term;
    }
  };
  // Positive terms come first, so that a formula begins with a minus only if all terms are
  // negative.
  for (const bool minus : {false, true}) {
    for (std::size_t v = 0; v < names.size(); ++v) {
      const std::int64_t a = of.coefficients[v];
      if (a == 0 || (a < 0) != minus) continue;
      const std::uint64_t size = size_of(a);
      add(minus, size == 1 ? names[v] : fmt::format("{} * {}", size, names[v]));
    }
    if ((of.constant < 0) == minus && of.constant != 0) {
      add(minus, std::to_string(size_of(of.constant)));
    }
  }
  return words.empty() ? "0" : words;
}

std::vector<std::size_t> all_of(const Samples& samples) {
  std::vector<std::size_t> all(samples.count());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

// Returns the formula as code over these names, or nothing if it is not valid.
std::optional<CompiledFormula> compiled(const Formula& formula,
                                        const std::vector<std::string>& names) {
  Scope scope;
  for (const std::string& name : names) scope.add_variable(name);
  FormulaError error;
  return compile(formula, scope, error);
}

// Returns true if the formula has the right value at each of the chosen samples.
bool fits(const Formula& formula, const Samples& samples, std::span<const std::size_t> chosen) {
  const std::optional<CompiledFormula> code = compiled(formula, samples.names);
  if (!code) return false;
  return std::all_of(chosen.begin(), chosen.end(), [&](std::size_t s) {
    FormulaFault fault = FormulaFault::kNone;
    const std::int64_t value = code->value(samples.point(s), fault);
    return fault == FormulaFault::kNone && value == samples.values[s];
  });
}

// Replaces the numbers by smaller ones that are equal modulo the period.
void make_small(LinearFunction& of, std::int64_t period) {
  const auto small = [period](std::int64_t& a) {
    a %= period;
    if (a < 0) a += period;
    if (a > period / 2) a -= period;
  };
  for (std::int64_t& a : of.coefficients) small(a);
  small(of.constant);
}

// Fits a linear function modulo the period: `(a * i + b) % period`. The values determine the
// coefficients only modulo the period, so the smallest ones are taken. Returns nullopt if no such
// formula is right.
std::optional<Formula> wrapped(const Samples& samples, std::int64_t period,
                               std::span<const std::size_t> all) {
  auto found = linear(samples, all);
  if (!found || period < 2) return std::nullopt;
  make_small(*found, period);
  const Formula formula = fmt::format("({}) % {}", text(*found, samples.names), period);
  if (fits(formula, samples, all)) return formula;
  return std::nullopt;
}

// Fits a * ((x / k) % n) + b of one variable x. A program that numbers the tiles of a grid row by
// row computes a tile's coordinates so. Tries k = 1 and the length of the first run of equal
// values, and as n the periods and all small numbers.
std::optional<Formula> digit(const Samples& samples, std::span<const std::int64_t> periods,
                             std::span<const std::size_t> all) {
  // The candidates for n in the formula a * ((x / k) % n) + b. The value 0 stands for the formula
  // without `% n`.
  std::vector<std::int64_t> wraps = {0};
  wraps.insert(wraps.end(), periods.begin(), periods.end());
  for (std::int64_t n = 2; n <= kMostDigits; ++n) wraps.push_back(n);
  for (std::size_t v = 0; v < samples.names.size(); ++v) {
    // `run` is a candidate for k: the smallest positive x of a sample whose value differs from the
    // value of the sample with the smallest x. It is 0 if there is no such sample.
    const auto x = [&](std::size_t s) { return samples.point(s)[v]; };
    const std::size_t first =
        *std::min_element(all.begin(), all.end(), [&](auto a, auto b) { return x(a) < x(b); });
    std::int64_t run = 0;
    for (const std::size_t s : all) {
      if (samples.values[s] != samples.values[first] && x(s) > 0 && (run == 0 || x(s) < run)) {
        run = x(s);
      }
    }
    for (const std::int64_t k : {std::int64_t{1}, run}) {
      for (const std::int64_t n : wraps) {
        if (n < 0 || n == 1 || k < 1 || (k == 1 && n == 0) || x(first) < 0) continue;
        Samples digits{{"d"}, {}, {}};
        for (const std::size_t s : all) {
          const std::int64_t d = n == 0 ? x(s) / k : x(s) / k % n;
          digits.add(std::span(&d, 1), samples.values[s]);
        }
        const auto scaled = linear(digits, all);
        if (!scaled || scaled->coefficients[0] == 0) continue;
        std::string word = k == 1 ? samples.names[v] : fmt::format("{} / {}", samples.names[v], k);
        if (n != 0)
          word = k == 1 ? fmt::format("{} % {}", word, n) : fmt::format("({}) % {}", word, n);
        const bool alone = scaled->coefficients[0] == 1 && scaled->constant == 0;
        const Formula formula = text(*scaled, {alone ? word : "(" + word + ")"});
        if (fits(formula, samples, all)) return formula;
      }
    }
  }
  return std::nullopt;
}

// Fits two linear functions, one for the smaller values of one variable and the other for its
// larger values. If possible, the formula is the minimum or the maximum of the two functions, as
// for a clipped piece. Otherwise it is a choice between them: `(i < 4 ? i : 7)`.
std::optional<Formula> bent(const Samples& samples, const std::vector<std::size_t>& all) {
  for (std::size_t v = 0; v < samples.names.size(); ++v) {
    const auto x = [&](std::size_t s) { return samples.point(s)[v]; };
    std::vector<std::size_t> order = all;
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return x(a) < x(b); });
    // The positions in `order` at which a new, larger value of the variable begins.
    std::vector<std::size_t> begins;
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (i == 0 || x(order[i]) != x(order[i - 1])) begins.push_back(i);
    }
    // Returns a linear formula that is right for the samples from `begin` to `end`, or nullopt.
    const auto line_of = [&](std::size_t begin, std::size_t end) -> std::optional<Formula> {
      const auto part = std::span(order).subspan(begin, end - begin);
      const auto found = linear(samples, part);
      if (!found) return std::nullopt;
      Formula line = text(*found, samples.names);
      if (!fits(line, samples, part)) return std::nullopt;
      return line;
    };
    // Find the largest number of values for which the first function is right. The search doubles
    // the number first and then halves the interval. It begins at small numbers, because most
    // samples do not consist of two functions and the search then ends early.
    std::size_t least = 1, most = 2;
    while (most < begins.size() && line_of(0, begins[most])) {
      least = most;
      most *= 2;
    }
    most = std::min(most, begins.size());
    while (least + 1 < most) {
      const std::size_t middle = (least + most) / 2;
      (line_of(0, begins[middle]) ? least : most) = middle;
    }
    if (least >= begins.size()) continue;
    const auto first = line_of(0, begins[least]);
    const auto second = line_of(begins[least], order.size());
    if (!first || !second) continue;
    for (const char* const larger : {"max", "min"}) {
      Formula formula = fmt::format("{}({}, {})", larger, first->text(), second->text());
      if (fits(formula, samples, all)) return formula;
    }
    Formula formula = fmt::format("({} < {} ? {} : {})", samples.names[v], x(order[begins[least]]),
                                  first->text(), second->text());
    if (fits(formula, samples, all)) return formula;
  }
  return std::nullopt;
}

// Fits a choice: splits the samples in halves along the first variable that differs, until a linear
// function is right for each part. Uses at most `steps` steps, and subtracts the used steps.
// Returns nullopt if the steps are used up or if two samples contradict each other.
std::optional<std::string> choice(const Samples& samples, std::vector<std::size_t> part,
                                  std::size_t& steps) {
  if (steps_of(samples, part.size()) > steps) return std::nullopt;
  steps -= steps_of(samples, part.size());
  const auto line = linear(samples, part);
  if (line) {
    const std::string words = text(*line, samples.names);
    if (fits(words, samples, part)) return words;
  }
  for (std::size_t v = 0; v < samples.names.size(); ++v) {
    std::vector<std::int64_t> there;
    for (const std::size_t s : part) there.push_back(samples.point(s)[v]);
    std::sort(there.begin(), there.end());
    there.erase(std::unique(there.begin(), there.end()), there.end());
    if (there.size() < 2) continue;
    const std::int64_t middle = there[there.size() / 2];
    std::vector<std::size_t> below, above;
    for (const std::size_t s : part) (samples.point(s)[v] < middle ? below : above).push_back(s);
    auto first = choice(samples, std::move(below), steps);
    if (!first) return std::nullopt;
    const auto second = choice(samples, std::move(above), steps);
    if (!second) return std::nullopt;
    if (*first == *second) return first;
    return fmt::format("({} < {} ? {} : {})", samples.names[v], middle, *first, *second);
  }
  // No variable differs, but the values do, so no formula is right.
  return std::nullopt;
}

// Returns the samples without those variables that are constant or always equal to another
// variable. Such variables give a formula nothing new, and would make the fits slower.
Samples with_telling_variables(const Samples& samples) {
  std::vector<std::size_t> kept;
  for (std::size_t v = 0; v < samples.names.size(); ++v) {
    bool constant = true;
    std::vector<bool> equal(kept.size(), true);
    for (std::size_t s = 0; s < samples.count(); ++s) {
      const auto at = samples.point(s);
      constant = constant && at[v] == samples.point(0)[v];
      for (std::size_t k = 0; k < kept.size(); ++k) equal[k] = equal[k] && at[kept[k]] == at[v];
    }
    const bool known = std::find(equal.begin(), equal.end(), true) != equal.end();
    if (!constant && !known) kept.push_back(v);
  }
  Samples telling{{}, {}, samples.values};
  for (const std::size_t v : kept) telling.names.push_back(samples.names[v]);
  for (std::size_t s = 0; s < samples.count(); ++s) {
    for (const std::size_t v : kept) telling.points.push_back(samples.point(s)[v]);
  }
  return telling;
}

// Returns the samples without repeated points. Returns nullopt if two samples have different values
// at the same point.
std::optional<Samples> without_repeats(const Samples& samples) {
  Samples unique{samples.names, {}, {}};
  std::map<std::vector<std::int64_t>, std::int64_t> seen;
  for (std::size_t s = 0; s < samples.count(); ++s) {
    const auto at = samples.point(s);
    const auto [known, is_new] =
        seen.try_emplace(std::vector(at.begin(), at.end()), samples.values[s]);
    if (!is_new && known->second != samples.values[s]) return std::nullopt;
    if (is_new) unique.add(at, samples.values[s]);
  }
  return unique;
}

// Returns the most frequent value, and the smallest one if several are equally frequent. Returns
// nullopt if there are no values.
std::optional<std::int64_t> most_common(const std::map<std::int64_t, std::size_t>& counts) {
  const auto most =
      std::max_element(counts.begin(), counts.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == counts.end() ? std::nullopt : std::optional(most->first);
}

// Returns a linear function that is right at many samples even if no function is right at all of
// them. The slope of each variable is the most frequent one between neighbours. The constant is the
// one that most samples need.
LinearFunction common_linear(const Samples& samples) {
  const std::size_t n = samples.names.size();
  LinearFunction found{std::vector<std::int64_t>(n, 0), 0};
  for (std::size_t v = 0; v < n; ++v) {
    // Maps the coordinates of a sample, with the coordinate of variable v set to 0, to the previous
    // sample that has the same coordinates apart from v.
    std::map<std::vector<std::int64_t>, std::size_t> before;
    std::map<std::int64_t, std::size_t> slopes;
    for (std::size_t s = 0; s < samples.count(); ++s) {
      const auto at = samples.point(s);
      std::vector<std::int64_t> others(at.begin(), at.end());
      others[v] = 0;
      const auto [other, is_new] = before.try_emplace(std::move(others), s);
      const std::size_t last = std::exchange(other->second, s);
      std::int64_t step = 0, rise = 0;
      if (is_new || __builtin_sub_overflow(at[v], samples.point(last)[v], &step) ||
          __builtin_sub_overflow(samples.values[s], samples.values[last], &rise)) {
        continue;
      }
      if (step == 0 || (step == -1 && rise == INT64_MIN) || rise % step != 0) continue;
      ++slopes[rise / step];
    }
    found.coefficients[v] = most_common(slopes).value_or(0);
  }
  std::map<std::int64_t, std::size_t> constants;
  for (std::size_t s = 0; s < samples.count(); ++s) {
    std::int64_t rest = samples.values[s];
    bool fits = true;
    for (std::size_t v = 0; v < n && fits; ++v) {
      std::int64_t part = 0;
      fits = multiply(found.coefficients[v], samples.point(s)[v], part) &&
             !__builtin_sub_overflow(rest, part, &rest);
    }
    if (fits) ++constants[rest];
  }
  found.constant = most_common(constants).value_or(0);
  return found;
}

// Returns the smallest of the given periods in ascending order, each once, at most kMostPeriods.
std::vector<std::int64_t> some_periods(std::span<const std::int64_t> periods) {
  std::vector<std::int64_t> some(periods.begin(), periods.end());
  std::sort(some.begin(), some.end());
  some.erase(std::unique(some.begin(), some.end()), some.end());
  some.resize(std::min(some.size(), kMostPeriods));
  return some;
}

}  // namespace

// Returns simple formulas for samples that follow no rule: the most frequent value first, then
// linear and wrapped linear functions that are clamped to the range of the values. None of them
// need be right anywhere.
std::vector<Formula> approximate_formulas(const Samples& given,
                                          std::span<const std::int64_t> periods) {
  if (given.values.empty()) return {0};
  const Samples samples = with_telling_variables(given);
  std::map<std::int64_t, std::size_t> values;
  for (const std::int64_t value : samples.values) ++values[value];
  std::vector<Formula> near = {*most_common(values)};
  if (steps_of(samples, samples.count()) > kMostSteps) return near;
  const LinearFunction common = common_linear(samples);
  std::vector<std::string> words = {text(common, samples.names), linear_guess(samples).text()};
  for (const std::int64_t period : some_periods(periods)) {
    if (period < 2) continue;
    LinearFunction wrapped = common;
    make_small(wrapped, period);
    words.push_back(fmt::format("({}) % {}", text(wrapped, samples.names), period));
  }
  for (const std::string& each : words) {
    near.emplace_back(
        fmt::format("min(max({}, {}), {})", each, values.begin()->first, values.rbegin()->first));
  }
  return near;
}

// Returns the number of samples at which the formula is right, or 0 if it has no value at one of
// them.
std::size_t count_matching_samples(const Formula& formula, const Samples& samples) {
  const auto values = values_of(formula, samples);
  std::size_t right = 0;
  for (std::size_t s = 0; values && s < samples.count(); ++s) {
    if ((*values)[s] == samples.values[s]) ++right;
  }
  return right;
}

// Returns a linear formula from neighbouring samples, or 0 if there is none. The formula may be
// wrong at the other samples.
Formula linear_guess(const Samples& samples) {
  if (samples.values.empty()) return 0;
  const auto found = linear(samples, all_of(samples));
  const Formula line = found ? Formula(text(*found, samples.names)) : Formula(0);
  return compiled(line, samples.names) ? line : Formula(0);
}

// Returns true if the formula has the right value at every sample.
bool matches_all_samples(const Formula& formula, const Samples& samples) {
  const auto values = values_of(formula, samples);
  return values && *values == samples.values;
}

// Returns the values of the formula at the samples, or nullopt if it has no value at one of them.
std::optional<std::vector<std::int64_t>> values_of(const Formula& formula, const Samples& samples) {
  const std::optional<CompiledFormula> code = compiled(formula, samples.names);
  if (!code) return std::nullopt;
  std::vector<std::int64_t> values;
  FormulaFault fault = FormulaFault::kNone;
  for (std::size_t s = 0; s < samples.count(); ++s) {
    values.push_back(code->value(samples.point(s), fault));
  }
  if (fault != FormulaFault::kNone) return std::nullopt;
  return values;
}

// Returns a formula that is right at all samples, or nullopt. Short forms come first: a constant, a
// linear function and wrapped linear functions, then the guesses, then longer forms.
std::optional<Formula> fit_formula(const Samples& given, std::span<const std::int64_t> periods,
                                   std::span<const Formula> guesses) {
  if (given.values.empty()) return Formula(0);
  const bool same = std::all_of(given.values.begin(), given.values.end(),
                                [&](std::int64_t value) { return value == given.values.front(); });
  if (same) return Formula(given.values.front());
  const std::optional<Samples> unique = without_repeats(with_telling_variables(given));
  if (!unique) return std::nullopt;
  const Samples& samples = *unique;
  if (steps_of(samples, samples.count()) > kMostSteps) return std::nullopt;
  const std::vector<std::size_t> all = all_of(samples);
  const Formula line = linear_guess(samples);
  if (fits(line, samples, all)) return line;
  const std::vector<std::int64_t> tried = some_periods(periods);
  for (const std::int64_t period : tried) {
    if (auto formula = wrapped(samples, period, all)) return formula;
  }
  for (const Formula& guess : guesses) {
    if (fits(guess, samples, all)) return guess;
  }
  if (samples.names.size() * samples.count() <= kMostDigitSteps) {
    if (auto formula = digit(samples, tried, all)) return formula;
  }
  if (auto formula = bent(samples, all)) return formula;
  if (samples.count() > kMostChoices) return std::nullopt;
  std::size_t steps = kMostSteps;
  const auto words = choice(samples, all, steps);
  // The choice is too long, or nested too deep, to be a formula.
  if (!words || !fits(*words, samples, all)) return std::nullopt;
  return Formula(*words);
}

}  // namespace groma::app
