// LineMatcher: sorts the lines of two runs together, splits the list into clusters of close lines,
// and pairs the lines of each cluster.
#include "guide/line_matching.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <tuple>

namespace groma::guide {
namespace {

using Kind = PrintedNumber::Kind;
using NumberRole = PrintedNumber::Role;

// Limit on the lines of the other run with which one line of a cluster is compared, so that a large
// cluster does not take quadratic time.
constexpr std::size_t kMostTried = 16;

bool is_unsteady(const PrintedNumber& number) { return number.role == NumberRole::kUnsteady; }

// Compares printed numbers for sorting: a strict weak order that puts close numbers next to each
// other. Ignored numbers (times and locations) are ordered only by whether they are NaN.
bool before(const PrintedNumber& a, const PrintedNumber& b) {
  const auto key = [](const PrintedNumber& number) {
    const bool counts = number.role != NumberRole::kIgnored && !number.is_nan();
    const bool has_digits = counts && number.kind != Kind::kReal;
    const std::string_view digits = has_digits ? number.digits : std::string_view();
    return std::make_tuple(number.is_nan(), counts && number.kind == Kind::kText,
                           counts ? number.value : 0.0, has_digits && number.is_negative,
                           digits.size(), digits);
  };
  return key(a) < key(b);
}

}  // namespace

bool has_unsteady_number(const PrintedLine& line) {
  return std::any_of(line.numbers.begin(), line.numbers.end(), is_unsteady);
}

// Two integers, or two numbers that do not fit a double, are close only if their digits are equal.
// Other numbers may differ by the relative tolerance, or may both be below the noise.
bool LineMatcher::are_close(const PrintedNumber& a, const PrintedNumber& b) const {
  ++*comparisons_;
  const auto same_digits = [&] { return a.digits == b.digits && a.is_negative == b.is_negative; };
  if (a.kind == Kind::kText || b.kind == Kind::kText) return a.kind == b.kind && same_digits();
  if (a.kind == Kind::kInteger && b.kind == Kind::kInteger) return same_digits();
  if (a.is_nan() || b.is_nan()) return a.is_nan() && b.is_nan();
  if (a.value == b.value) return true;
  if (a.is_infinite() || b.is_infinite()) return false;
  const double most = std::max(std::abs(a.value), std::abs(b.value));
  const double noise = a.is_residual && b.is_residual ? closeness_.residue_noise : closeness_.noise;
  return most < noise || std::abs(a.value - b.value) <= closeness_.tolerance * most;
}

// Returns true if two numbers of the same column are close enough for their lines to be in one
// cluster. If one of them is ignored (a time or a location), both or none must be NaN.
bool LineMatcher::may_share_cluster(const PrintedNumber& a, const PrintedNumber& b) const {
  const bool ignored = a.role == NumberRole::kIgnored || b.role == NumberRole::kIgnored;
  return ignored ? a.is_nan() == b.is_nan() : are_close(a, b);
}

// A printed value counts as usual if it is finite. NaN (or infinity) is usual if a reference run
// printed NaN (or infinity) in this column.
bool LineMatcher::equal(const PrintedNumber& expected, const PrintedNumber& got,
                        std::size_t column) const {
  const NonFiniteInColumn& had = columns_[column];
  const bool is_usual = (!got.is_nan() || had.had_nan) && (!got.is_infinite() || had.had_infinity);
  if (is_unsteady(expected)) return is_usual;
  if (expected.role == NumberRole::kIgnored || got.role == NumberRole::kIgnored) {
    return is_usual && expected.is_nan() == got.is_nan();
  }
  return are_close(expected, got);
}

bool LineMatcher::equal(const PrintedLine& expected, const PrintedLine& got) const {
  for (std::size_t k = 0; k < expected.numbers.size(); ++k) {
    if (!equal(expected.numbers[k], got.numbers[k], k)) return false;
  }
  return true;
}

// Treats the numbers in the columns marked in `unsteady` as varying from run to run, in every
// expected line.
bool LineMatcher::equal(const PrintedLine& expected, const PrintedLine& got,
                        const std::vector<bool>& unsteady) const {
  for (std::size_t k = 0; k < expected.numbers.size(); ++k) {
    PrintedNumber number = expected.numbers[k];
    if (unsteady[k]) number.role = NumberRole::kUnsteady;
    if (!equal(number, got.numbers[k], k)) return false;
  }
  return true;
}

std::size_t LineMatcher::first_difference(const std::vector<PrintedLine>& expected,
                                          const std::vector<PrintedLine>& got) const {
  const std::size_t size = std::min(expected.size(), got.size());
  std::size_t i = 0;
  while (i < size && equal(expected[i], got[i])) ++i;
  return i;
}

bool LineMatcher::has_new_nan_or_infinity(const PrintedLine& got) const {
  for (std::size_t k = 0; k < got.numbers.size(); ++k) {
    if (got.numbers[k].is_nan() && !columns_[k].had_nan) return true;
    if (got.numbers[k].is_infinite() && !columns_[k].had_infinity) return true;
  }
  return false;
}

// Pairs each expected line of a cluster with the first equal line of the other run that has no
// partner. Neighbours in a cluster are close in all columns, so the first candidate is nearly
// always equal.
void LineMatcher::pair_cluster(ComparedLines::const_iterator begin,
                               ComparedLines::const_iterator end, const std::vector<bool>& unsteady,
                               ComparedLines& expected_left, ComparedLines& got_left) const {
  ComparedLines got;
  std::copy_if(begin, end, std::back_inserter(got),
               [](const ComparedLine& item) { return item.is_from_tested_run; });
  std::vector<bool> taken(got.size());
  // The index of the first line of the tested run (in `got`) that has no partner in this cluster.
  std::size_t first = 0;
  for (; begin != end; ++begin) {
    if (begin->is_from_tested_run) continue;
    std::size_t i = first;
    const std::size_t last = std::min(got.size(), first + kMostTried);
    while (i < last && (taken[i] || !equal(*begin->line, *got[i].line, unsteady))) ++i;
    if (i == last) {
      expected_left.push_back(*begin);
      continue;
    }
    taken[i] = true;
    while (first < got.size() && taken[first]) ++first;
  }
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (!taken[i]) got_left.push_back(got[i]);
  }
}

// Splits the lines of both runs into clusters, by one column of numbers after the other, and pairs
// the lines in each cluster. A cluster is not split further if it has one line of each run, or
// lines of one run only.
void LineMatcher::pair_in_clusters(ComparedLines& items, const std::vector<bool>& unsteady,
                                   ComparedLines& expected_left, ComparedLines& got_left) const {
  struct Cluster {
    std::size_t begin, end, column;
  };
  std::vector<Cluster> open = {{0, items.size(), 0}};
  while (!open.empty()) {
    const auto [begin, end, column] = open.back();
    open.pop_back();
    const auto from = items.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto to = items.begin() + static_cast<std::ptrdiff_t>(end);
    const auto got = static_cast<std::size_t>(
        std::count_if(from, to, [](const ComparedLine& item) { return item.is_from_tested_run; }));
    const bool is_pair = got == 1 && end - begin == 2;
    if (column == unsteady.size() || got == 0 || got == end - begin || is_pair) {
      pair_cluster(from, to, unsteady, expected_left, got_left);
      continue;
    }
    if (unsteady[column]) {
      open.push_back({begin, end, column + 1});
      continue;
    }
    // Sorting by this column puts lines with close numbers next to each other. The loop below
    // splits the cluster where two neighbours are not close.
    std::stable_sort(from, to, [&, k = column](const ComparedLine& a, const ComparedLine& b) {
      ++*comparisons_;
      return before(a.line->numbers[k], b.line->numbers[k]);
    });
    std::size_t start = begin;
    for (std::size_t i = begin + 1; i <= end; ++i) {
      if (i < end &&
          may_share_cluster(items[i - 1].line->numbers[column], items[i].line->numbers[column])) {
        continue;
      }
      open.push_back({start, i, column + 1});
      start = i;
    }
  }
}

// Returns the indices of the unmatched lines of both runs in ascending order.
UnmatchedLines LineMatcher::unmatched_lines_by_index(const ComparedLines& expected,
                                                     const ComparedLines& got) {
  UnmatchedLines unmatched;
  for (const ComparedLine& item : expected) unmatched.expected.push_back(item.index);
  for (const ComparedLine& item : got) unmatched.got.push_back(item.index);
  std::sort(unmatched.expected.begin(), unmatched.expected.end());
  std::sort(unmatched.got.begin(), unmatched.got.end());
  return unmatched;
}

// First pairs the expected lines without unsteady numbers. Then pairs the expected lines that have
// unsteady numbers with the remaining lines of the other run.
UnmatchedLines LineMatcher::find_unmatched_lines(const std::vector<PrintedLine>& expected,
                                                 const std::vector<PrintedLine>& got) const {
  const std::size_t size = columns_.size();
  ComparedLines steady, unsteady, expected_left, got_left;
  std::vector<bool> none(size), some(size);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    (has_unsteady_number(expected[i]) ? unsteady : steady).push_back({&expected[i], i, false});
    for (std::size_t k = 0; k < size; ++k) {
      if (is_unsteady(expected[i].numbers[k])) some[k] = true;
    }
  }
  for (std::size_t i = 0; i < got.size(); ++i) steady.push_back({&got[i], i, true});
  pair_in_clusters(steady, none, expected_left, got_left);
  if (!unsteady.empty()) {
    unsteady.insert(unsteady.end(), got_left.begin(), got_left.end());
    got_left.clear();
    pair_in_clusters(unsteady, some, expected_left, got_left);
  }
  return unmatched_lines_by_index(expected_left, got_left);
}

UnmatchedLines LineMatcher::find_unmatched_lines(const std::vector<PrintedLine>& expected,
                                                 const std::vector<PrintedLine>& got,
                                                 const std::vector<bool>& unsteady) const {
  ComparedLines items, expected_left, got_left;
  for (std::size_t i = 0; i < expected.size(); ++i) items.push_back({&expected[i], i, false});
  for (std::size_t i = 0; i < got.size(); ++i) items.push_back({&got[i], i, true});
  pair_in_clusters(items, unsteady, expected_left, got_left);
  return unmatched_lines_by_index(expected_left, got_left);
}

// Sorts the numbers of each column, separately for both runs, and compares the two sorted lists.
std::vector<bool> LineMatcher::differing_columns(const std::vector<PrintedLine>& expected,
                                                 const std::vector<PrintedLine>& got) const {
  std::vector<bool> differing(columns_.size());
  std::vector<const PrintedNumber*> first(expected.size()), second(got.size());
  for (std::size_t k = 0; k < differing.size(); ++k) {
    const auto sorted = [&](const std::vector<PrintedLine>& lines,
                            std::vector<const PrintedNumber*>& numbers) {
      for (std::size_t i = 0; i < lines.size(); ++i) numbers[i] = &lines[i].numbers[k];
      std::stable_sort(
          numbers.begin(), numbers.end(),
          [](const PrintedNumber* a, const PrintedNumber* b) { return before(*a, *b); });
    };
    sorted(expected, first);
    sorted(got, second);
    differing[k] = std::any_of(first.begin(), first.end(),
                               [](const PrintedNumber* number) { return is_unsteady(*number); }) ||
                   !std::equal(first.begin(), first.end(), second.begin(), second.end(),
                               [&](const PrintedNumber* a, const PrintedNumber* b) {
                                 return may_share_cluster(*a, *b);
                               });
  }
  return differing;
}

}  // namespace groma::guide
