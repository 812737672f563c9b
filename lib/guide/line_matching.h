// LineMatcher: compares lines that two runs printed, in any order. A skeleton is a line without its
// numbers (printed_lines.h). All lines that are passed to one function have the same skeleton, so
// they contain the same number of numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "guide/printed_lines.h"

namespace groma::guide {

// Whether one number of lines that differ only in their numbers was ever NaN or infinite in the
// reference runs, which ran without a mapping.
struct ColumnFacts {
  bool had_nan = false, had_infinity = false;
};
using Columns = std::vector<ColumnFacts>;

// How close two numbers must be to count as equal.
struct Closeness {
  double tolerance = 0;  // relative to the larger number
  double noise = 0;      // smaller numbers count as 0
  // Numbers below this count as 0 if they are errors or differences (PrintedNumber::is_residue).
  double residue_noise = 0;
};

// The lines of each run that have no equal line in the other run, by index and in ascending order.
struct Unmatched {
  std::vector<std::size_t> expected, got;  // indices of the lines without an equal line
  bool none() const { return expected.empty() && got.empty(); }
};

// Returns true if at least one number of the line changes from run to run.
bool has_unsteady(const PrintedLine& line);

class LineMatcher {
 public:
  // Each comparison of two numbers increments `*comparisons`, so that a caller can limit or test
  // the work. `columns` and `comparisons` must outlive the matcher.
  LineMatcher(const Closeness& closeness, const Columns& columns, std::int64_t* comparisons)
      : closeness_(closeness), columns_(columns), comparisons_(comparisons) {}

  // Returns true if the number `got` is the expected one, within the tolerance. An ignored or
  // unsteady number may have any value, except for NaN or infinity in a column that never had them.
  bool equal(const PrintedNumber& expected, const PrintedNumber& got, std::size_t column) const;
  // Returns true if all numbers of the lines are equal in this sense.
  bool equal(const PrintedLine& expected, const PrintedLine& got) const;
  // Returns the first index at which the two lists differ. If there is no difference, returns the
  // smaller of the two sizes.
  std::size_t first_difference(const std::vector<PrintedLine>& expected,
                               const std::vector<PrintedLine>& got) const;
  // Returns true if a number of the line is NaN or infinite in a column that never had such a
  // value.
  bool is_worse(const PrintedLine& got) const;

  // Pairs equal lines and returns the lines without a partner. Expected lines whose numbers are all
  // steady are paired first. If a column is unsteady in one of the other lines, the column is
  // ignored for all of them.
  //
  // The function sorts the lines of both runs together, by one column after the other, and splits
  // the list wherever two neighbours are not close. A difference within the tolerance therefore
  // does not separate two lines. The function makes O(numbers * log(lines)) comparisons.
  Unmatched match(const std::vector<PrintedLine>& expected,
                  const std::vector<PrintedLine>& got) const;
  // Pairs all lines at once, and ignores the columns that are marked in `unsteady`.
  Unmatched match(const std::vector<PrintedLine>& expected, const std::vector<PrintedLine>& got,
                  const std::vector<bool>& unsteady) const;
  // Marks the columns whose numbers differ between the runs if each column is compared on its own,
  // in ascending order.
  std::vector<bool> differing_columns(const std::vector<PrintedLine>& expected,
                                      const std::vector<PrintedLine>& got) const;

 private:
  // A line of one of the two runs.
  struct ComparedLine {
    const PrintedLine* line = nullptr;
    std::size_t index = 0;
    bool is_got = false;
  };
  using ComparedLines = std::vector<ComparedLine>;

  static Unmatched sorted_by_index(const ComparedLines& expected, const ComparedLines& got);
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

  Closeness closeness_;
  const Columns& columns_;
  std::int64_t* comparisons_;
};

}  // namespace groma::guide
