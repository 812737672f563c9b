// The table of a Pareto front for people: a row for each text, a column for each input.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "groma/columns.h"
#include "groma/harmless.h"
#include "groma/tune.h"

namespace groma::tuning {
namespace {

// Inputs with longer names are called "input 1", "input 2", ... in the table, with a legend below.
constexpr std::size_t kMaxHeading = 16;
constexpr const char* kIndent = "       ";

// The texts of a row of the table: the number of the step, its values, its score and marks.
using Row = std::vector<std::string>;

// Returns the row of a step, with values of this number of digits.
Row row_of(const Step& step, const TuneOutcome& outcome, const Evaluator& evaluator,
           bool is_in_front, int digits) {
  Row row = {std::to_string(step.number)};
  // value_words() takes a score. value_of() also converts a value to the score that it stands for.
  for (const double value : step.evaluation.values) {
    row.push_back(value_words(evaluator, evaluator.value_of(value), digits));
  }
  row.push_back(value_words(evaluator, step.evaluation.score, digits));
  const bool is_start = outcome.start && outcome.start->number == step.number;
  const bool is_best = outcome.best && outcome.best->number == step.number;
  row.emplace_back(!is_in_front          ? "start, not one of them"
                   : is_start && is_best ? "start, best"
                   : is_start            ? "start"
                   : is_best             ? "best"
                                         : "");
  return row;
}

// Returns the rows as lines whose columns are aligned. The last column has no padding.
std::string aligned(const std::vector<Row>& rows) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], columns_of(row[i]));
    }
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line = kIndent;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string padding(widths[i] - columns_of(row[i]), ' ');
      // The numbers of the steps are aligned at their last digit.
      line += i == 0 ? padding + row[i] : "  " + row[i] + padding;
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

// Returns the rows of the start, if it is not in the front, and of the front.
std::vector<Row> rows_of(const TuneOutcome& outcome, const Evaluator& evaluator, int digits) {
  std::vector<Row> rows;
  const std::optional<Step>& start = outcome.start;
  const bool has_start =
      std::any_of(outcome.front.begin(), outcome.front.end(),
                  [&](const Step& step) { return start && step.number == start->number; });
  // The start is shown for comparison, even if another text beats it on all inputs.
  if (start && !has_start && start->evaluation.values.size() == evaluator.inputs().size()) {
    rows.push_back(row_of(*start, outcome, evaluator, false, digits));
  }
  for (const Step& step : outcome.front) {
    rows.push_back(row_of(step, outcome, evaluator, true, digits));
  }
  return rows;
}

// Returns true if the values of two neighbouring rows look the same.
bool look_alike(const std::vector<Row>& rows) {
  return std::adjacent_find(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
           return std::equal(a.begin() + 1, a.end() - 1, b.begin() + 1, b.end() - 1);
         }) != rows.end();
}

}  // namespace

// Values that look alike with four digits are shown with seven, as in the display of a search.
std::string draw_front(const TuneOutcome& outcome, const Evaluator& evaluator) {
  if (outcome.front.empty()) return "";
  const std::vector<std::string> inputs = evaluator.inputs();
  const bool is_short = std::all_of(inputs.begin(), inputs.end(), [](const std::string& input) {
    return columns_of(input) <= kMaxHeading;
  });
  std::vector<Row> rows = rows_of(outcome, evaluator, 4);
  if (look_alike(rows)) rows = rows_of(outcome, evaluator, 7);
  Row heading = {"step"};
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    heading.push_back(is_short ? harmless(inputs[i]) : fmt::format("input {}", i + 1));
  }
  heading.insert(heading.end(), {"mean", ""});
  rows.insert(rows.begin(), std::move(heading));
  const std::size_t count = outcome.front.size();
  std::string text = fmt::format("front  {} text{} that no other one beats on all inputs\n{}",
                                 count, count == 1 ? "" : "s", aligned(rows));
  for (std::size_t i = 0; i < inputs.size() && !is_short; ++i) {
    text += fmt::format("{}input {}: {}\n", kIndent, i + 1, harmless(inputs[i]));
  }
  return text;
}

}  // namespace groma::tuning
