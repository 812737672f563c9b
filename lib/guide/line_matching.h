// Which printed lines are the same in two runs, whatever their order. All lines that are given to a
// function here have the same skeleton (printed_lines.h), so the same number of numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "guide/printed_lines.h"

namespace groma::guide {

// What the numbers at one place of a skeleton were in any run without a mapping.
struct ColumnFacts {
  bool had_nan = false, had_infinity = false;
};
using Columns = std::vector<ColumnFacts>;

struct Closeness {
  double tolerance = 0;      // as part of the larger of two numbers
  double noise = 0;          // two numbers below this are 0
  double residue_noise = 0;  // the same for an error or a difference (PrintedNumber::is_residue)
};

// Lines without a partner in the other run, in their order.
struct Unmatched {
  std::vector<std::size_t> expected, got;  // indices
  bool none() const { return expected.empty() && got.empty(); }
};

// Whether a number of the line changes from run to run.
bool has_unsteady(const PrintedLine& line);

class LineMatcher {
 public:
  // `columns` must outlive the matcher, as `comparisons` must, to which the comparisons of two
  // numbers are added.
  LineMatcher(const Closeness& closeness, const Columns& columns, std::int64_t* comparisons)
      : closeness_(closeness), columns_(columns), comparisons_(comparisons) {}

  // Whether a number is the one that was expected. A number that is ignored or unsteady may be any,
  // but not NaN or infinite unless the column had such.
  bool equal(const PrintedNumber& expected, const PrintedNumber& got, std::size_t column) const;
  bool equal(const PrintedLine& expected, const PrintedLine& got) const;
  // The first index at which the two differ; the shorter size if they do not.
  std::size_t first_difference(const std::vector<PrintedLine>& expected,
                               const std::vector<PrintedLine>& got) const;
  // Whether some number is NaN or infinite though its column had none.
  bool is_worse(const PrintedLine& got) const;

  // Pairs lines that are equal, first those of `expected` without an unsteady number. A column that
  // is unsteady in one of the others counts for none of these.
  //
  // It sorts both runs together by one column after the other and cuts them where neighbours are
  // not close. So a difference within the tolerance in one column does not change which lines are
  // compared. O(numbers * log(lines)) comparisons.
  Unmatched match(const std::vector<PrintedLine>& expected,
                  const std::vector<PrintedLine>& got) const;
  // The same where the columns of `unsteady` do not count for any line.
  Unmatched match(const std::vector<PrintedLine>& expected, const std::vector<PrintedLine>& got,
                  const std::vector<bool>& unsteady) const;
  // The columns whose numbers, taken by themselves, are not the same in both runs.
  std::vector<bool> differing_columns(const std::vector<PrintedLine>& expected,
                                      const std::vector<PrintedLine>& got) const;

 private:
  struct Item {
    const PrintedLine* line = nullptr;
    std::size_t index = 0;
    bool is_got = false;
  };
  using Items = std::vector<Item>;

  static Unmatched in_order(const Items& expected, const Items& got);
  bool close(const PrintedNumber& a, const PrintedNumber& b) const;
  bool same_key(const PrintedNumber& a, const PrintedNumber& b) const;
  bool equal(const PrintedLine& expected, const PrintedLine& got,
             const std::vector<bool>& unsteady) const;
  void pair_up(Items& items, const std::vector<bool>& unsteady, Items& expected_left,
               Items& got_left) const;
  void pair_off(Items::const_iterator begin, Items::const_iterator end,
                const std::vector<bool>& unsteady, Items& expected_left, Items& got_left) const;

  Closeness closeness_;
  const Columns& columns_;
  std::int64_t* comparisons_;
};

}  // namespace groma::guide
