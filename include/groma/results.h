// Results: whether a program printed the same results as in its runs without a mapping. A mapping
// must not change a result, and many programs print theirs.
//
// What is compared, line by line, of standard output and standard error:
//
// * The text of a line must be the same, except for its numbers.
// * Numbers with a point or an exponent may differ by the tolerance, since a sum in another order
//   is rounded differently. Numbers near 0 count as 0 (kResultsNoise).
// * Integers must be equal, digit by digit. A number beyond the range of double (1e400) must be
//   printed in the same way.
// * A number is NaN or infinite only where it is so without the mapping. This also holds for the
//   numbers and lines that are left out below.
// * Lines may come in another order, since tasks print when they run. A line that holds nothing
//   but a number keeps its place in a sorted list of at least 8 such lines of standard output,
//   unless two references print that list in different orders.
// * A line that ends in a carriage return and is then overwritten does not count.
//
// What is left out:
//
// * Times and speeds at which programs run: numbers behind words for them (`elapsed`, `time`,
//   `GFLOPS`, ...) or before their units (`ms`, `GB/s`, `steps/s`; `s` only beside such a word or
//   without any). Lines that ResultsOptions::same selects keep their times.
// * Integers behind a word for a place, which a mapping may change: `CPU 3`, `GPU 0`,
//   `processor 1`, `thread 2`. Words with other meanings (`node`, `rank`, `memory`, `core`, ...)
//   count as places only as in `on node 3`, `[rank 0]` and `CPU 1, node 0`.
// * Numbers that differ between the runs without a mapping. If these runs print different counts
//   of a line, the line must be there only where all of them print it with the same numbers, at
//   least one of which is not an integer.
// * Addresses (0x...), the prefix of lines that a Legion logger wrote, warnings of Legion itself.
// * Lines of standard error that begin with kOwnLine, and additional lines there: Groma and Legion
//   print there, too.
//
// With ResultsOptions::same, only the lines count that one of its patterns matches.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "groma/result.h"

namespace groma {

// The beginning of Groma's own lines on standard error. They say, for example, how long a run took,
// so they are not results of the program.
inline constexpr std::string_view kOwnLine = "groma: ";

struct ResultsOptions {
  // RE2 patterns. If there are any, a line counts only if one of them matches a part of it. If the
  // pattern has a group, only the text of the group counts.
  std::vector<std::string> same = {};
  // RE2 pattern that finds a measured value, such as a time. Lines that it matches are not
  // compared. Empty: there is no such pattern.
  std::string measure = {};
  // Two numbers are equal if they differ by no more than this part of the larger one, or if both
  // are noise (kResultsNoise).
  double tolerance = 1e-6;
};
// A number of a smaller magnitude is noise. The limit is relative to the largest number with a
// point or an exponent that the references print, if that is below 1, so that physical constants
// are not noise. It is not relative behind `error`, `residual`, `difference` and the like.
inline constexpr double kResultsNoise = 1e-9;

// A line that a program prints differently, or not at all, under a mapping.
struct ResultsDifference {
  // The line without the mapping. Empty if there is no such line.
  std::string expected;
  // The line with the mapping. Empty if the line is missing.
  std::string got;
  // True if a number became NaN.
  bool is_nan = false;
  // True if the program prints both lines under the mapping and without it, and only the order of
  // such lines of numbers differs.
  bool is_order = false;
};

// The lines that a comparison leaves out because the references differ from each other in them.
struct UnsteadyResults {
  // The number of lines. A line that some references print more often than others counts once.
  std::int64_t lines = 0;
  // One of the lines that are left out, as the first reference prints it. May be empty.
  std::string example;
};

// The results of a program. Add all references first. After that the object does not change, and
// any thread may use it.
class Results {
 public:
  // Makes an object without references. Fails (kMalformed) on a pattern that RE2 does not take and
  // on a tolerance that is negative or not a number.
  static Result<Results> make(ResultsOptions options);
  Results(Results&&) noexcept;
  Results& operator=(Results&&) noexcept;
  ~Results();

  // Adds the output of a run without a mapping as a reference. With more references, more of the
  // results that change from run to run are known.
  void add_reference(std::string_view out, std::string_view err);
  bool has_reference() const;
  // Returns false if the references print nothing that can be compared, such as only their times.
  bool has_results() const;
  // Returns what is left out of comparisons because the references differ there.
  UnsteadyResults unsteady() const;
  // Returns the options in one line, which differs for different options. It serves as a cache key.
  std::string key() const;
  // Returns true if the outputs are short enough to be compared: 16 MiB each; 262,144 lines and
  // 1,048,576 numbers together. The other functions must not be called with longer outputs.
  static bool fits(std::string_view out, std::string_view err);
  // Returns the first line that differs. Returns nothing if the results are the same, or if there
  // is no reference.
  std::optional<ResultsDifference> compare(std::string_view out, std::string_view err) const;

 private:
  struct State;
  class Search;
  explicit Results(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Returns text such as "2 lines that differ between runs without the mapping, such as `seed 3`";
// empty if there are none.
std::string to_text(const UnsteadyResults& unsteady);
// Returns text such as "it prints `sum nan` instead of `sum 4.09`": one sentence without a full
// stop.
std::string to_text(const ResultsDifference& difference);

}  // namespace groma
