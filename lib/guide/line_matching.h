// LineMatcher: compares lines that two runs of a program printed, in any order. A skeleton is a
// line without its numbers (printed_lines.h). All lines that are passed to one function have the
// same skeleton, so they contain the same number of numbers. The k-th numbers of such lines are
// called column k.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "guide/printed_lines.h"

namespace groma::guide {

// Facts about one column of numbers in printed lines: whether any reference run, which ran without
// a mapping, printed NaN or infinity there.
struct NonFiniteInColumn {
  bool had_nan = false, had_infinity = false;
};
using Columns = std::vector<NonFiniteInColumn>;

// How close two numbers must be to count as equal.
struct NumberTolerances {
  // The largest difference of two equal numbers, relative to the larger one.
  double tolerance = 0;
  // Numbers with a smaller magnitude count as 0.
  double noise = 0;
  // Numbers with a smaller magnitude than this count as 0 if they are errors or differences, such
  // as a residual (PrintedNumber::is_residual).
  double residue_noise = 0;
};

// The lines of each run that have no equal line in the other run.
struct UnmatchedLines {
  // The indices of the lines without an equal line, in ascending order.
  std::vector<std::size_t> expected, got;
  bool empty() const { return expected.empty() && got.empty(); }
};

// Returns true if at least one number of the printed line is marked as changing from run to run.
bool has_unsteady_number(const PrintedLine& line);

class LineMatcher {
 public:
  // Creates a matcher for lines with these columns. Each comparison of two numbers increments
  // `*comparisons`, so that tests can count them. `columns` and `comparisons` must outlive the
  // matcher.
  LineMatcher(const NumberTolerances& closeness, const Columns& columns, std::int64_t* comparisons)
      : closeness_(closeness), columns_(columns), comparisons_(comparisons) {}

  // Returns true if the number `got` is the expected one, within the tolerance. An ignored or
  // unsteady number may have any value, except for NaN or infinity in a column that never had them.
  bool equal(const PrintedNumber& expected, const PrintedNumber& got, std::size_t column) const;
  // Returns true if all numbers of the two lines are equal: within the tolerance, ignored or
  // unsteady.
  bool equal(const PrintedLine& expected, const PrintedLine& got) const;
  // Compares the two lists line by line, in order, and returns the first index at which they
  // differ. If there is no difference, returns the smaller of the two sizes.
  std::size_t first_difference(const std::vector<PrintedLine>& expected,
                               const std::vector<PrintedLine>& got) const;
  // Returns true if the line has a new NaN or infinity: no reference run printed such a value in
  // that column.
  bool has_new_nan_or_infinity(const PrintedLine& got) const;

  // Pairs equal lines of the two runs, in any order, and returns the lines without a partner.
  // Expected lines without unsteady numbers are paired first. If a column is unsteady in one of the
  // other expected lines, the column is ignored for all of those.
  //
  // The function sorts the lines of both runs together, by one column after the other, and splits
  // the list wherever two neighbours are not close. A difference within the tolerance therefore
  // does not separate two lines. The function makes O(numbers * log(lines)) comparisons.
  UnmatchedLines find_unmatched_lines(const std::vector<PrintedLine>& expected,
                                      const std::vector<PrintedLine>& got) const;
  // Pairs equal lines of the two runs, in any order, and returns the lines without a partner.
  // Ignores the columns of numbers that are marked in `unsteady`.
  UnmatchedLines find_unmatched_lines(const std::vector<PrintedLine>& expected,
                                      const std::vector<PrintedLine>& got,
                                      const std::vector<bool>& unsteady) const;
  // Returns one flag for each column: true if the sorted numbers of the column differ between the
  // two runs, or if one of the expected numbers is unsteady.
  std::vector<bool> differing_columns(const std::vector<PrintedLine>& expected,
                                      const std::vector<PrintedLine>& got) const;

 private:
  // A printed line of one of the two runs, with its index in the list of that run.
  // `is_from_tested_run` is false for the expected run.
  struct ComparedLine {
    const PrintedLine* line = nullptr;
    std::size_t index = 0;
    bool is_from_tested_run = false;
  };
  using ComparedLines = std::vector<ComparedLine>;

  static UnmatchedLines unmatched_lines_by_index(const ComparedLines& expected,
                                                 const ComparedLines& got);
  // Returns true if two numbers are equal within the tolerance.
  bool are_close(const PrintedNumber& a, const PrintedNumber& b) const;
  bool may_share_cluster(const PrintedNumber& a, const PrintedNumber& b) const;
  bool equal(const PrintedLine& expected, const PrintedLine& got,
             const std::vector<bool>& unsteady) const;
  void pair_in_clusters(ComparedLines& items, const std::vector<bool>& unsteady,
                        ComparedLines& expected_left, ComparedLines& got_left) const;
  void pair_cluster(ComparedLines::const_iterator begin, ComparedLines::const_iterator end,
                    const std::vector<bool>& unsteady, ComparedLines& expected_left,
                    ComparedLines& got_left) const;

  NumberTolerances closeness_;
  const Columns& columns_;
  std::int64_t* comparisons_;
};

}  // namespace groma::guide
