// Results: whether a program printed the same results as in its runs without a mapping. A mapping
// must not change a result, and many programs print theirs.
//
// What is compared, line by line, of standard output and standard error:
//
// * The text of a line must be the same, except for its numbers.
// * Numbers with a point or an exponent may differ by the tolerance, since a sum in another order
//   is rounded differently.
// * Integers must be equal. NaN and infinity match only themselves.
// * Lines may come in another order: tasks print when they run.
//
// What is left out:
//
// * Times and speeds: numbers behind words that speak of them (`elapsed`, `time`, `GFLOPS`, ...) or
//   before their units (`ms`, `GB/s`). Only NaN, where there was none, is an error.
// * Integers behind a word for a place (`CPU 3`, `node 0`, `processor 1`), which a mapping may
//   change.
// * Numbers that differ between the runs without a mapping, and lines that only some of these runs
//   print.
// * Addresses (0x...), the prefix of lines that a Legion logger wrote, warnings of Legion itself.
// * Lines too many in standard error, where Groma and Legion have their say, too.
// * Lines of standard error that begin with kOwnLine.
//
// With ResultsOptions::same, only the lines count that one of its patterns matches.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "groma/result.h"

namespace groma {

// What Groma's own lines on standard error begin with. They say how long a run took, among other
// things, so they are no results of a program.
inline constexpr std::string_view kOwnLine = "groma: ";

struct ResultsOptions {
  // RE2 patterns. If there are any, a line counts only if one of them matches a part of it; of a
  // pattern with a group, what the group matches.
  std::vector<std::string> same = {};
  // RE2 pattern of a measure, whose lines do not count; empty: none.
  std::string measure = {};
  // Two numbers are equal if they differ by no more than this part of the larger one, or if both
  // are closer to 0 than kResultsNoise.
  double tolerance = 1e-6;
};
inline constexpr double kResultsNoise = 1e-9;

// A line that differs.
struct ResultsDifference {
  std::string expected;  // empty: there is no such line without the mapping
  std::string got;       // empty: the line is missing
  bool is_nan = false;   // a number became NaN
};

// The results of a program. Immutable after the references were added; then safe from any thread.
class Results {
 public:
  // Fails (kMalformed) on a pattern that RE2 does not take and on a tolerance that is negative or
  // not a number.
  static Result<Results> make(ResultsOptions options);
  Results(Results&&) noexcept;
  Results& operator=(Results&&) noexcept;
  ~Results();

  // What the program printed in a run without a mapping. The more runs, the more is known to change
  // from run to run.
  void add_reference(std::string_view out, std::string_view err);
  bool has_reference() const;
  // The options in a line: a key for what was compared before.
  std::string key() const;
  // Whether outputs are short enough to be compared: 16 MiB each, 262,144 lines together.
  static bool fits(std::string_view out, std::string_view err);
  // The first line that differs; nothing if the results are the same, or without a reference.
  std::optional<ResultsDifference> compare(std::string_view out, std::string_view err) const;

 private:
  struct State;
  explicit Results(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// "it prints `sum nan` instead of `sum 4.09`", one sentence without its full stop.
std::string to_text(const ResultsDifference& difference);

}  // namespace groma
