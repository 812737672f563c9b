#include "evaluate/splits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <tuple>

namespace groma::mapper {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::VariantWith;

using Sizes = std::vector<std::int64_t>;

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kLargest = std::int64_t{1} << 40;  // the largest n

// The splits of these have no error.
Sizes auto_sizes(std::int64_t n, const Sizes& extents) {
  const SplitResult result = auto_split(n, extents);
  EXPECT_TRUE(std::holds_alternative<Sizes>(result)) << n;
  return std::holds_alternative<Sizes>(result) ? std::get<Sizes>(result) : Sizes{};
}

Sizes ones(std::size_t k) { return Sizes(k, 1); }

Sizes decomposed(std::int64_t n, const Sizes& extents, const Sizes& halo) {
  const SplitResult result = decompose(n, extents, halo);
  EXPECT_TRUE(std::holds_alternative<Sizes>(result)) << n;
  return std::holds_alternative<Sizes>(result) ? std::get<Sizes>(result) : Sizes{};
}

Sizes decomposed(std::int64_t n, const Sizes& extents) {
  return decomposed(n, extents, ones(extents.size()));
}

std::int64_t product(const Sizes& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1}, std::multiplies<>());
}

// ---- The original's results

// "(3,4)"; anything else is empty.
Sizes parse_sizes(std::string_view text) {
  if (!text.starts_with('(') || !text.ends_with(')')) return {};
  Sizes result;
  std::istringstream in(std::string(text.substr(1, text.size() - 2)));
  for (std::string word; std::getline(in, word, ',');) result.push_back(std::stoll(word));
  return result;
}

// What follows `key` in `word`; empty where it does not begin with it.
std::string_view after(std::string_view word, std::string_view key) {
  return word.starts_with(key) ? word.substr(key.size()) : std::string_view();
}

// One line of tests/data/split_tables.txt, one of
//   auto 12 (4,5) auto=(3,4) greedy=(4,3)
//   auto 6 (4,5) auto=(2,3) greedy=same
//   balance 12 into 2 = (6,2)
//   balance 31 undefined(prime factor > 17)
struct Row {
  std::string kind;
  std::int64_t n = 0;
  Sizes extents;  // auto
  Sizes greedy;   // auto
  Sizes result;   // empty: the original crashes
};

Row parse_row(const std::string& line) {
  Row row;
  std::istringstream in(line);
  std::string first, second, third;
  in >> row.kind >> row.n >> first >> second >> third;
  if (row.kind == "auto") {
    row.extents = parse_sizes(first);
    row.result = parse_sizes(after(second, "auto="));
    row.greedy = third == "greedy=same" ? row.result : parse_sizes(after(third, "greedy="));
  } else if (first == "into") {
    in >> third;
    row.result = parse_sizes(third);
  }
  return row;
}

void check_undefined(std::int64_t n) {
  for (std::int64_t k = 1; k <= 4; ++k) {
    const Sizes sizes = balance_split(n, k);
    EXPECT_EQ(product(sizes), n);
    EXPECT_TRUE(std::is_sorted(sizes.rbegin(), sizes.rend())) << n;
  }
}

void check_row(const Row& row) {
  if (row.kind == "auto") {
    ASSERT_FALSE(row.extents.empty() || row.result.empty() || row.greedy.empty());
    EXPECT_EQ(auto_sizes(row.n, row.extents), row.result);
    EXPECT_EQ(greedy_split(row.n, row.extents), row.greedy);
  } else if (row.result.empty()) {
    check_undefined(row.n);
  } else {
    EXPECT_EQ(balance_split(row.n, static_cast<std::int64_t>(row.result.size())), row.result);
  }
}

TEST(Splits, AreTheOriginalsWhereItHasAResult) {
  std::ifstream in(std::string(GROMA_SOURCE_DIR) + "/tests/data/split_tables.txt");
  ASSERT_TRUE(in);
  int rows = 0;
  int undefined = 0;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    SCOPED_TRACE(line);
    const Row row = parse_row(line);
    check_row(row);
    ++rows;
    if (row.result.empty()) ++undefined;
  }
  EXPECT_EQ(rows, 4000);
  EXPECT_EQ(undefined, 33);
}

// ---- balance_split

TEST(BalanceSplit, GivesEachPrimeFromTheSmallestToTheSmallestSize) {
  EXPECT_THAT(balance_split(12, 2),
              ElementsAre(6, 2));  // 2 | 2 | 3: not the best, but the original's
  EXPECT_THAT(balance_split(36, 2), ElementsAre(6, 6));
  EXPECT_THAT(balance_split(24, 3), ElementsAre(6, 2, 2));
}

TEST(BalanceSplit, TakesAnyNumberAndAnyK) {
  EXPECT_THAT(balance_split(12, 1), ElementsAre(12));
  EXPECT_THAT(balance_split(16, 5), ElementsAre(2, 2, 2, 2, 1));
  EXPECT_THAT(balance_split(38, 2), ElementsAre(19, 2));
  EXPECT_THAT(balance_split(31, 3), ElementsAre(31, 1, 1));
  EXPECT_THAT(balance_split(kLargest, 2), ElementsAre(1 << 20, 1 << 20));
  EXPECT_THAT(balance_split(1'099'511'627'689, 2), ElementsAre(1'099'511'627'689, 1));  // a prime
}

TEST(BalanceSplit, OfNothingOrOneIsOnes) {
  EXPECT_THAT(balance_split(0, 3), ElementsAre(1, 1, 1));
  EXPECT_THAT(balance_split(1, 2), ElementsAre(1, 1));
}

// ---- greedy_split

TEST(GreedySplit, GivesEachPrimeFromTheLargestToTheLargestExtentLeft) {
  EXPECT_THAT(greedy_split(12, Sizes{4, 5}), ElementsAre(4, 3));  // 3 to 5, 2 to 4, 2 to 2 > 5/3
  EXPECT_THAT(greedy_split(6, Sizes{8, 8}), ElementsAre(3, 2));   // the first at a tie
}

TEST(GreedySplit, TakesAnyNumberAndAnyExtents) {
  EXPECT_THAT(greedy_split(2 * 17'167, Sizes{5, 7}), ElementsAre(2, 17'167));
  EXPECT_THAT(greedy_split(8, Sizes{0, 1}), ElementsAre(1, 8));  // 0 stays 0
  EXPECT_THAT(greedy_split(8, Sizes{0, 0}), ElementsAre(8, 1));
  EXPECT_THAT(greedy_split(4, Sizes{-8, -2}), ElementsAre(1, 4));
  EXPECT_THAT(greedy_split(4, Sizes{kMax, kMax}), ElementsAre(2, 2));
  EXPECT_THAT(greedy_split(4, Sizes{}), ElementsAre());
}

TEST(GreedySplit, OfNothingOrOneIsOnes) {
  EXPECT_THAT(greedy_split(0, Sizes{4, 5}), ElementsAre(1, 1));
  EXPECT_THAT(greedy_split(1, Sizes{4}), ElementsAre(1));
}

// ---- auto_split

TEST(AutoSplit, MinimisesTheSumOfQuotients) {
  EXPECT_THAT(auto_sizes(12, {4, 5}), ElementsAre(3, 4));  // 3/4 + 4/5 < 4/4 + 3/5
  EXPECT_THAT(auto_sizes(8, {16, 2}), ElementsAre(8, 1));  // 8/16 + 1/2 < 4/16 + 2/2
}

TEST(AutoSplit, PrefersGreedyAmongTheTied) {
  EXPECT_THAT(auto_sizes(7, {4, 4}), ElementsAre(7, 1));        // (1, 7) is listed first
  EXPECT_THAT(auto_sizes(2, {2, 2, 2}), ElementsAre(2, 1, 1));  // (1, 1, 2) is listed first
}

TEST(AutoSplit, TakesTheFirstListedWhereGreedyIsNotTied) {
  // Of (4, 2, 3) and (4, 3, 2), which both cost 4/3, the one in which the largest prime comes last.
  EXPECT_THAT(greedy_split(24, Sizes{8, 6, 6}), ElementsAre(3, 4, 2));
  EXPECT_THAT(auto_sizes(24, {8, 6, 6}), ElementsAre(4, 2, 3));
  // 8/24 + 9/24 either way, and 12/24 + 6/24 is more.
  EXPECT_THAT(greedy_split(72, Sizes{24, 24}), ElementsAre(12, 6));
  EXPECT_THAT(auto_sizes(72, {24, 24}), ElementsAre(8, 9));
}

TEST(AutoSplit, IsGreedyWhereAllCostsAreWithinTheTolerance) {
  for (std::int64_t n : {12, 24, 720, 1024}) {
    const Sizes extents = {4'000'000'000, 3'000'000'000'000, 5'000'000'000};
    EXPECT_EQ(auto_sizes(n, extents), greedy_split(n, extents));
  }
}

TEST(AutoSplit, HasAToleranceOf1e6th) {
  // In the order listed, (2, 6), (4, 3), (3, 4) cost 44/35, 43/35 and 41/35, divided by the scale;
  // greedy's is (4, 3). The third is compared with the first, whose tie with the second changes
  // nothing.
  EXPECT_THAT(auto_sizes(12, {5 * 60'000, 7 * 60'000}), ElementsAre(3, 4));
  EXPECT_THAT(auto_sizes(12, {5 * 84'000, 7 * 84'000}), ElementsAre(3, 4));  // 1.02e-6 apart
  EXPECT_THAT(auto_sizes(12, {5 * 87'000, 7 * 87'000}), ElementsAre(4, 3));  // 0.99e-6
}

TEST(AutoSplit, CountsAnExtentOf0As1) {
  EXPECT_EQ(auto_sizes(12, {0, 8}), auto_sizes(12, {1, 8}));
  EXPECT_EQ(auto_sizes(6, {0, 1}), auto_sizes(6, {1, 1}));
  EXPECT_THAT(auto_sizes(4, {0, 0}), ElementsAre(2, 2));
}

TEST(AutoSplit, OfNothingOrOneIsOnes) {
  EXPECT_THAT(auto_sizes(0, {4, 5, 0}), ElementsAre(1, 1, 1));
  EXPECT_THAT(auto_sizes(1, {4}), ElementsAre(1));
  EXPECT_THAT(auto_sizes(6, {}), ElementsAre());
}

TEST(AutoSplit, TakesAnyNumberAndAnyExtents) {
  EXPECT_THAT(auto_sizes(2 * 17'167, {100'000, 10}), ElementsAre(17'167, 2));
  EXPECT_THAT(auto_sizes(1'099'511'627'689, {5, 7}), ElementsAre(1, 1'099'511'627'689));
  EXPECT_THAT(auto_sizes(kLargest, {64, 64}), ElementsAre(1 << 20, 1 << 20));
  EXPECT_EQ(product(auto_sizes(720'720, {100, 30, 7, 1'000})), 720'720);
  EXPECT_EQ(product(auto_sizes(64, {kMax, -kMax, -1})), 64);
  EXPECT_THAT(auto_sizes(6, {-1, 4}), ElementsAre(6, 1));  // the formulas' minimum
  EXPECT_EQ(product(auto_sizes(2, Sizes(32, 5))), 2);
}

TEST(AutoSplit, LooksAtAllFactorisations) {
  EXPECT_EQ(count_factorisations(12, 2), 6);
  EXPECT_EQ(count_factorisations(720'720, 5), 656'250);  // C(8, 4) * C(6, 2) * 5^4
  EXPECT_EQ(count_factorisations(kLargest, 9), kMaxFactorisations + 1);
  EXPECT_EQ(count_factorisations(1, 3), 1);
  EXPECT_EQ(count_factorisations(6, 0), 0);
}

TEST(AutoSplit, EndsWhereThereAreTooManyFactorisations) {
  // 2^40 into 9: C(48, 8) = 377 million. 720720 into 9: C(12, 4) * C(10, 2) * 9^4 = 146 million.
  const Sizes nine(9, 100);
  EXPECT_THAT(auto_split(kLargest, nine), VariantWith<SplitError>(SplitError::kTooMany));
  EXPECT_THAT(auto_split(720'720, nine), VariantWith<SplitError>(SplitError::kTooMany));
  EXPECT_THAT(auto_split(kLargest, Sizes(32, 2)), VariantWith<SplitError>(SplitError::kTooMany));
  EXPECT_THAT(auto_split(2, Sizes(33, 2)), VariantWith<SplitError>(SplitError::kTooMany));
  // 2^32 into 8: C(39, 7) = 15 million. 2^30 into 7: C(36, 6) = 2 million, which is done.
  EXPECT_THAT(auto_split(std::int64_t{1} << 32, Sizes(8, 3)),
              VariantWith<SplitError>(SplitError::kTooMany));
  EXPECT_EQ(product(auto_sizes(std::int64_t{1} << 30, Sizes(7, 3))), std::int64_t{1} << 30);
}

// ---- decompose: the definition, by trying everything

__extension__ typedef __int128 Int128;

// (first sum, second sum, sizes): the smallest is the answer.
using Judged = std::tuple<Int128, Int128, Sizes>;

Judged judge(const Sizes& sizes, const Sizes& extents, const Sizes& halo) {
  Int128 crossing = 0;
  Int128 surface = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    Int128 face = halo[i];
    Int128 block_face = halo[i];
    for (std::size_t j = 0; j < sizes.size(); ++j) {
      if (j == i) continue;
      const std::int64_t extent = std::max<std::int64_t>(extents[j], 1);
      face *= extent;
      block_face *= extent / sizes[j] + (extent % sizes[j] == 0 ? 0 : 1);
    }
    crossing += face * (sizes[i] - 1);
    surface += block_face;
  }
  return {crossing, surface, sizes};
}

void try_all(std::int64_t left, const Sizes& extents, const Sizes& halo, Sizes* sizes,
             std::optional<Judged>* best) {
  if (sizes->size() + 1 == extents.size()) {
    sizes->push_back(left);
    Judged judged = judge(*sizes, extents, halo);
    if (!*best || judged < **best) *best = std::move(judged);
    sizes->pop_back();
    return;
  }
  for (std::int64_t size = 1; size <= left; ++size) {
    if (left % size != 0) continue;
    sizes->push_back(size);
    try_all(left / size, extents, halo, sizes, best);
    sizes->pop_back();
  }
}

Sizes brute_force(std::int64_t n, const Sizes& extents, const Sizes& halo) {
  Sizes sizes;
  std::optional<Judged> best;
  try_all(n, extents, halo, &sizes, &best);
  return std::get<2>(*best);
}

void expect_brute_force(std::int64_t n, const Sizes& extents, const Sizes& halo) {
  EXPECT_EQ(decomposed(n, extents, halo), brute_force(n, extents, halo))
      << n << " over " << ::testing::PrintToString(extents) << " halo "
      << ::testing::PrintToString(halo);
}

struct Grid {
  Sizes extents;
  Sizes halo;
};

const std::vector<Grid>& grids() {
  static const std::vector<Grid> kGrids = {
      {{7}, {1}},
      {{0}, {0}},
      {{8, 8}, {1, 1}},
      {{100, 10}, {1, 1}},
      {{10, 100}, {1, 1}},
      {{0, 12}, {1, 1}},
      {{0, 0}, {1, 1}},
      {{12, 18}, {2, 3}},  // equal weights, unequal blocks
      {{9, 7}, {0, 1}},    // the first is free
      {{9, 7}, {0, 0}},    // all are
      {{6, 6, 6}, {1, 1, 1}},
      {{5, 9, 5}, {1, 1, 1}},  // the equal ones apart
      {{64, 32, 16}, {1, 1, 1}},
      {{10, 20, 30}, {1, 2, 3}},  // equal weights
      {{30, 20, 10}, {3, 2, 1}},
      {{10, 20, 30}, {0, 0, 1}},  // free before one with a halo
      {{10, 20, 30}, {1, 0, 0}},  // and after
      {{7, 0, 11}, {1, 4, 1}},
      {{1, 1, 1000}, {5, 1, 7}},
      {{4, 4, 4, 4}, {1, 1, 1, 1}},
      {{3, 5, 7, 9}, {1, 1, 1, 1}},
      // A block of the smaller volume and the larger surface, in the dimensions after the first,
      // is the better one here;
      {{12, 13, 9}, {24, 13, 18}},
      {{1, 6, 19, 28}, {1, 6, 19, 28}},
      // and here both are equally good.
      {{6, 3, 14}, {12, 6, 28}},
      {{8, 5, 27}, {8, 5, 27}},
      {{12, 6, 4, 3}, {12, 6, 4, 3}},
      {{0, 8, 0, 8}, {1, 2, 1, 2}},
      {{5, 4, 3, 2}, {0, 1, 0, 1}},
      {{5, 4, 3, 2}, {0, 0, 0, 0}},
      {{5, 7, 6, 8}, {1, 0, 0, 0}},
  };
  return kGrids;
}

TEST(Decompose, IsTheBestOfAllForEveryNumberTo500) {
  for (const Grid& grid : grids()) {
    for (std::int64_t n = 1; n <= 500; ++n) {
      expect_brute_force(n, grid.extents, grid.halo);
      if (HasFailure()) return;
    }
  }
}

// Equal or nearly equal weights, where the second sum and the order decide.
TEST(Decompose, IsTheBestOfAllForRandomGridsWithManyTies) {
  std::mt19937 random(20);
  auto up_to = [&](std::uint32_t limit) { return static_cast<std::int64_t>(random() % limit) + 1; };
  for (int i = 0; i < 2000 && !HasFailure(); ++i) {
    Sizes extents(static_cast<std::size_t>(up_to(4)));
    Sizes halo = extents;
    for (std::size_t j = 0; j < extents.size(); ++j) {
      extents[j] = up_to(30);
      halo[j] = extents[j] * up_to(2);
    }
    expect_brute_force(12 * up_to(20), extents, halo);
  }
}

TEST(Decompose, MinimisesWhatCrosses) {
  // 100 by 10: a cut across dimension 0 costs 10, across dimension 1 costs 100.
  EXPECT_THAT(decomposed(4, {100, 10}), ElementsAre(4, 1));
  EXPECT_THAT(decomposed(4, {10, 10}), ElementsAre(2, 2));
  EXPECT_THAT(decomposed(4, {10, 10}, {1, 5}), ElementsAre(4, 1));  // 3 * 10 < 10 + 50
  EXPECT_THAT(decomposed(7, {0, 5}), ElementsAre(1, 7));            // 6 * 1 < 6 * 5
}

TEST(Decompose, ThenTheSurfaceOfTheLargestBlock) {
  // A cut costs 6 in either dimension (2 * 3 and 3 * 2). Blocks of 1 by 3 have a surface of
  // 2 * 3 + 3 * 1 = 9, blocks of 2 by 2, of the lexicographically smaller (1, 2), 2 * 2 + 3 * 2
  // = 10.
  EXPECT_THAT(decomposed(2, {2, 3}, {2, 3}), ElementsAre(2, 1));
  EXPECT_THAT(decomposed(2, {3, 2}, {3, 2}), ElementsAre(1, 2));
}

TEST(Decompose, ThenTheLexicographicallySmallest) {
  EXPECT_THAT(decomposed(2, {8, 8}), ElementsAre(1, 2));
  EXPECT_THAT(decomposed(6, {8, 8}), ElementsAre(2, 3));
  EXPECT_THAT(decomposed(4, {8, 8, 8}), ElementsAre(1, 2, 2));
  EXPECT_THAT(decomposed(12, {5, 4}, {0, 0}), ElementsAre(1, 12));
}

TEST(Decompose, OfNothingOrOneIsOnes) {
  EXPECT_THAT(decomposed(0, {4, 0, 5}), ElementsAre(1, 1, 1));
  EXPECT_THAT(decomposed(1, {4}), ElementsAre(1));
  EXPECT_THAT(decomposed(6, {}), ElementsAre());
}

TEST(Decompose, IsExactAtTheLargestExtents) {
  const std::vector<Grid> large = {
      {{kMax}, {1}},
      {{kMax, 1}, {1, 1}},
      {{1, kMax}, {1, kMax}},                    // weights differ by nothing: both kMax
      {{3'037'000'499, 3'037'000'499}, {1, 1}},  // just under 2^63
      {{3'037'000'500, 3'037'000'498}, {1, 1}},
      {{7, 1'317'624'576'693'539'401}, {1, 1}},        // 2^63-1
      {{2'097'151, 2'097'152, 2'097'151}, {1, 1, 1}},  // just under 2^63
      {{2'097'151, 2'097'152, 2'097'151}, {3, 3, 3}},
      {{55'108, 55'108, 55'108, 55'107}, {1, 1, 1, 1}},
      {{1LL << 31, (1LL << 31) - 1, 2}, {1LL << 31, (1LL << 31) - 1, 2}},
  };
  for (const Grid& grid : large) {
    for (std::int64_t n : {2, 3, 6, 30, 36, 64, 97, 210, 1024, 5040}) {
      expect_brute_force(n, grid.extents, grid.halo);
    }
  }
}

TEST(Decompose, TellsCostsApartThatAreOneInDoubles) {
  const std::int64_t big = std::int64_t{1} << 62;
  EXPECT_THAT(decomposed(2, {1, 1}, {big, big - 1}), ElementsAre(1, 2));
  EXPECT_THAT(decomposed(2, {1, 1}, {big - 1, big}), ElementsAre(2, 1));
}

TEST(Decompose, ReportsWhatDoesNotFit) {
  const auto overflow = VariantWith<SplitError>(SplitError::kOverflow);
  EXPECT_THAT(decompose(4, Sizes{1LL << 32, 1LL << 31}, ones(2)), overflow);  // 2^63
  EXPECT_THAT(decompose(4, Sizes{kMax, 2}, ones(2)), overflow);
  EXPECT_THAT(decompose(4, Sizes(32, kMax), ones(32)), overflow);
  EXPECT_THAT(decompose(1, Sizes{kMax, 2}, ones(2)), overflow) << "whatever n";
  EXPECT_THAT(decompose(4, Sizes{kMax, 0, 1}, ones(3)), VariantWith<Sizes>(ElementsAre(4, 1, 1)));
  // A cut costs (2^63-1) * 4^30 = 2^123; 2^40 parts take 22 + 9 * 3 cuts, 2 parts one.
  const Sizes fours(31, 4);
  const Sizes widest(31, kMax);
  EXPECT_THAT(decompose(kLargest, fours, widest), overflow);
  Sizes halved_last = ones(31);
  halved_last.back() = 2;
  EXPECT_EQ(decomposed(2, fours, widest), halved_last);
}

TEST(Decompose, MinimisesCostsOfMoreThan64Bits) {
  const std::int64_t big = std::int64_t{1} << 62;
  EXPECT_THAT(decomposed(kLargest, {1, 1, big}, {kMax, kMax, kMax}), ElementsAre(1, 1, kLargest));
  EXPECT_THAT(decomposed(kLargest, {1LL << 31, 1LL << 31}, {kMax, kMax}),
              ElementsAre(1 << 20, 1 << 20));
}

TEST(Decompose, IsFastForNumbersWithManyDivisors) {
  // The last: the number of at most 2^40 with the most divisors, 6720.
  for (std::int64_t n : {std::int64_t{720'720}, kLargest, std::int64_t{963'761'198'400}}) {
    for (std::size_t k : {std::size_t{1}, std::size_t{4}, std::size_t{9}, std::size_t{32}}) {
      Sizes extents(k, 3);
      EXPECT_EQ(product(decomposed(n, extents)), n);
      Sizes equal_weights(k);
      for (std::size_t i = 0; i < k; ++i) {
        extents[i] = 1 + static_cast<std::int64_t>(i % 3);
        equal_weights[i] = extents[i];
      }
      EXPECT_EQ(product(decomposed(n, extents)), n);
      EXPECT_EQ(product(decomposed(n, extents, equal_weights)), n);
    }
  }
}

TEST(Decompose, OfEqualExtentsIsEvenAndRising) {
  EXPECT_THAT(decomposed(kLargest, Sizes(8, 100)), ElementsAreArray(Sizes(8, 32)));
  EXPECT_THAT(decomposed(720'720, Sizes(9, 100)), ElementsAre(2, 2, 3, 3, 4, 5, 7, 11, 13));
}

TEST(Decompose, EndsWhereNearlyEverythingTies) {
  EXPECT_THAT(decompose(963'761'198'400, Sizes(32, 3), Sizes(32, 0)),
              VariantWith<SplitError>(SplitError::kTooMany));
  EXPECT_THAT(decompose(2, Sizes(33, 1), ones(33)), VariantWith<SplitError>(SplitError::kTooMany));
  Sizes last(9, 1);
  last.back() = 720'720;
  EXPECT_EQ(decomposed(720'720, Sizes(9, 3), Sizes(9, 0)), last);
}

}  // namespace
}  // namespace groma::mapper
