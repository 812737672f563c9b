// Derivations from the first points of known domains, compared with the domains far behind these
// points.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "groma/domain_derivation.h"

namespace groma::domains {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

Domain known(const std::string& name, std::int64_t size) {
  Diagnostics diags(known_domains()->source());
  const auto declaration = known_domains()->find(name);
  GROMA_CHECK(declaration);
  auto domain = declaration->make({{declaration->parameters().front().first, size}}, diags);
  GROMA_CHECK(domain);
  return *domain;
}

Samples samples_of(const Domain& domain, std::int64_t count) {
  Samples samples;
  const std::vector<std::string> names = {"x", "y", "z"};
  samples.names = domain.dimensions() == 4
                      ? std::vector<std::string>{"w", "x", "y", "z"}
                      : std::vector(names.begin(), names.begin() + domain.dimensions());
  for (std::int64_t k = 0; k < std::min(count, domain.count()); ++k) {
    samples.points.push_back(domain.point(k));
  }
  return samples;
}

// Returns the part of the first `points` points that the best derivation gets right.
double part_right(const Domain& domain, const std::vector<Derivation>& derivations,
                  std::int64_t points) {
  if (derivations.empty()) return 0;
  const auto made = make_domain(derivations.front(), points);
  if (!made) return 0;
  const Grade grade = grade_answer(point_function(*made), point_function(domain), points);
  return static_cast<double>(grade.in_order) / static_cast<double>(points);
}

struct Case {
  const char* name;
  std::int64_t size;
  // The fewest samples with which the domain is found and each of its numbers confirmed.
  int enough;
};
std::ostream& operator<<(std::ostream& out, const Case& each) { return out << each.name; }

class Found : public ::testing::TestWithParam<Case> {};

TEST_P(Found, WithEnoughSamplesAndNeverWrongWithMore) {
  const Domain domain = known(GetParam().name, GetParam().size);
  const std::int64_t points = std::min<std::int64_t>(domain.count(), 20000);
  for (const int count : {GetParam().enough, 50, 64, 100}) {
    if (count < GetParam().enough) continue;
    const auto derivations = derive_domain(samples_of(domain, count));
    ASSERT_THAT(derivations, Not(IsEmpty())) << count;
    EXPECT_NE(derivations.front().support, Support::kGuess) << count;
    EXPECT_GT(derivations.front().evidence, 0);
    EXPECT_EQ(part_right(domain, derivations, points), 1)
        << count << " " << derivations.front().declaration;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Found,
                         ::testing::Values(Case{"triangle", 5000, 7}, Case{"pairs", 5000, 7},
                                           Case{"band", 20000, 16}, Case{"diamond", 5, 48},
                                           Case{"tetrahedron", 500, 20}, Case{"triples", 500, 20},
                                           Case{"pyramid", 500, 20}, Case{"simplex4", 100, 20},
                                           Case{"gasket", 13, 6}, Case{"gasket_right", 13, 6},
                                           Case{"carpet", 7, 10}, Case{"vicsek_plus", 9, 7},
                                           Case{"vicsek_cross", 9, 7}, Case{"cantor2", 10, 12},
                                           Case{"pascal3", 8, 12}, Case{"sierpinski3", 10, 12},
                                           Case{"menger", 5, 21}, Case{"vicsek3", 8, 12},
                                           Case{"mosely", 5, 20}, Case{"cantor3", 7, 12}),
                         [](const auto& each) { return std::string(each.param.name); });

TEST(Derive, MengerFromTwentySamplesIsALabelledGuess) {
  const Domain menger = known("menger", 5);
  const auto guess = derive_domain(samples_of(menger, 20));
  ASSERT_THAT(guess, Not(IsEmpty()));
  EXPECT_EQ(guess.front().support, Support::kGuess);
  EXPECT_EQ(guess.front().evidence, 0);
  EXPECT_EQ(part_right(menger, guess, 100000), 1);
  EXPECT_EQ(derive_domain(samples_of(menger, 21)).front().evidence, 2);
  EXPECT_EQ(derive_domain(samples_of(menger, 21)).front().support, Support::kThin);
  EXPECT_EQ(derive_domain(samples_of(menger, 100)).front().support, Support::kGood);
}

TEST(Derive, TheShorterDescriptionWins) {
  // 21 points of the tetrahedron are also the begin of a self-similar set of 20 digit vectors.
  const auto found = derive_domain(samples_of(known("tetrahedron", 100), 21));
  ASSERT_GE(found.size(), 2U);
  EXPECT_THAT(found[0].declaration, HasSubstr("in loops z < n, y <= z, x <= y;"));
  EXPECT_THAT(found[1].declaration, HasSubstr("in digits base 4"));
  EXPECT_LT(found[0].description, found[1].description);
  EXPECT_EQ(found[1].support, Support::kThin);
}

// Returns the declaration that is derived from a text of CSV.
std::string derived(const std::string& csv, const DerivationOptions& options = {}) {
  Diagnostics diags(Source("a.csv", csv));
  const auto samples = read_samples(diags);
  if (!samples) return "wrong samples";
  const auto found = derive_domain(*samples, options);
  return found.empty()
             ? "none"
             : fmt::format("{} {}", name_of(found.front().support), found.front().declaration);
}

// Returns the points of a declaration as CSV.
std::string csv_of(const std::string& declaration, std::int64_t count) {
  Diagnostics diags(Source("a.domain", declaration));
  const auto domain = DomainLibrary::read(diags)->declarations().back().make({}, diags);
  std::string text = domain->dimensions() == 2   ? "x,y\n"
                     : domain->dimensions() == 3 ? "x,y,z\n"
                                                 : "x\n";
  for (std::int64_t k = 0; k < std::min(count, domain->count()); ++k) {
    const Point point = domain->point(k);
    text += fmt::format("{}\n", fmt::join(point.coordinates(), ","));
  }
  return text;
}

TEST(Derive, PrintsWhatAPersonWouldWrite) {
  for (const char* body :
       {"(x, y) in loops y < n, x <= y;", "(x, y) in loops x < n, y <= x + 2;",
        "(x, y) in loops y < n, y <= x <= 2 * y + 1;",
        "(x, y) in loops y < n, y - 2 <= x <= y + 2;", "(x, y) in loops -3 <= y < n, y <= x < 9;",
        "(x, y, z) in loops x < n, y <= x, z < 3;",
        "(x, y, z) in loops y < n, z < 4, y + z <= x <= 2 * y + z + 1;",
        "(2 * i, 3 - j) in loops i < n, j <= i;", "(i - j, i + j) in loops i < n, j < 5;"}) {
    const std::string text = fmt::format("domain derived(n = 7) = {}", body);
    EXPECT_EQ(derived(csv_of(text, 1000)), "good " + text);
  }
  EXPECT_EQ(derived(csv_of("domain d = x in loops 5 <= x < 25;", 100)),
            "good domain derived(n = 25) = x in loops 5 <= x < n;");
}

TEST(Derive, JoinsTwoNests) {
  const std::string band =
      "domain derived(n = 12) = (x, y) in loops y < 4, x <= y "
      "then (x, y) in loops 4 <= y < n, y - 3 <= x <= y;";
  EXPECT_EQ(derived(csv_of(band, 100)), "good " + band);
}

TEST(Derive, SaysWhatTheSamplesCannotShow) {
  // The first row of the upper triangle: nothing tells what the next row is.
  const auto row = derive_domain(samples_of(known("upper_triangle", 500), 50));
  ASSERT_THAT(row, Not(IsEmpty()));
  EXPECT_EQ(row.front().support, Support::kThin);
  EXPECT_THAT(row.front().remarks.front(), HasSubstr("all samples lie on a line or a plane"));
  // Two whole rows.
  const auto rows = derive_domain(samples_of(known("frame", 9), 20));
  ASSERT_THAT(rows, Not(IsEmpty()));
  EXPECT_EQ(rows.front().support, Support::kThin);
}

TEST(Derive, FindsNothingWhereThereIsNoRule) {
  EXPECT_THAT(derive_domain(samples_of(known("disk", 20), 100)), IsEmpty());
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    std::set<std::pair<int, int>> all;
    Samples samples{{"x", "y"}, {}};
    while (samples.points.size() < 20) {
      const std::pair point(static_cast<int>(random() % 9), static_cast<int>(random() % 9));
      if (all.insert(point).second) samples.points.push_back({point.first, point.second});
    }
    for (const Derivation& each : derive_domain(samples)) {
      EXPECT_NE(each.support, Support::kGood) << each.declaration;
    }
  }
}

// One wrong sample hides the domain. It is named, with the point that belongs there.
TEST(Derive, NamesAWrongSample) {
  Diagnostics diags(known_domains()->source());
  const auto triangle = known_domains()->find("triangle")->make({{"n", 20}}, diags);
  for (const std::int64_t wrong : {3, 17, 49}) {
    Samples samples{{"x", "y"}, {}};
    for (std::int64_t k = 0; k < 50; ++k) samples.points.push_back(triangle->point(k));
    EXPECT_FALSE(find_near_fit(samples));
    samples.points[static_cast<std::size_t>(wrong)] = Point{70, 5};
    const auto fit = find_near_fit(samples);
    ASSERT_TRUE(fit) << wrong;
    EXPECT_EQ(fit->wrong_count, 1U);
    EXPECT_EQ(fit->wrong.front().k, wrong);
    EXPECT_EQ(fit->wrong.front().expected, triangle->point(wrong));
    EXPECT_EQ(words_of(*fit).find(fmt::format("all samples but k = {} fit `triangle`", wrong)), 0U);
  }
  // A domain that Groma does not know is found from the samples before the wrong one.
  Samples samples{{"x", "y"}, {}};
  for (std::int64_t k = 0; k < 60; ++k) samples.points.push_back(Point{3 * (k % 4), 100 - k / 4});
  samples.points[50] = Point{1, 1};
  const auto fit = find_near_fit(samples);
  ASSERT_TRUE(fit);
  EXPECT_EQ(fit->wrong.front().k, 50);
  EXPECT_NE(fit->name.find("domain"), std::string::npos);
  // Noise fits nothing.
  for (std::size_t k = 0; k < 60; ++k) {
    samples.points[k] = Point{static_cast<std::int64_t>(k * k % 37), static_cast<std::int64_t>(k)};
  }
  EXPECT_FALSE(find_near_fit(samples));
}

TEST(Derive, SetsWithoutOrder) {
  const DerivationOptions unordered{"derived", false};
  const auto shuffled = [](const Domain& domain) {
    Samples samples = samples_of(domain, 10000);
    std::shuffle(samples.points.begin(), samples.points.end(), std::mt19937(5));
    return samples;
  };
  for (const auto& [name, size, text] :
       {std::tuple("menger", 2, "in digits base 3 levels r of (0, 0, 0), (1, 0, 0)"),
        std::tuple("vicsek_plus", 3, "in digits base 3 levels r of (1, 0), (0, 1)"),
        std::tuple("triangle", 9, "(x, y) in loops y < n, x <= y;"),
        std::tuple("upper_triangle", 9, "in loops"),
        std::tuple("pyramid", 6, "(x, y, z) in loops z < n, y <= z, x <= z;")}) {
    const auto found = derive_domain(shuffled(known(name, size)), unordered);
    ASSERT_THAT(found, Not(IsEmpty())) << name;
    EXPECT_THAT(found.front().declaration, HasSubstr(text));
  }
  EXPECT_THAT(derive_domain(shuffled(known("disk", 8)), unordered), IsEmpty());
}

TEST(Derive, ManySamplesEndSoon) {
  Samples random_points{{"x", "y", "z"}, {}};
  std::mt19937 random(4);
  for (std::size_t i = 0; i < kMaxSamples; ++i) {
    random_points.points.push_back({static_cast<std::int64_t>(random() % 50),
                                    static_cast<std::int64_t>(i),
                                    static_cast<std::int64_t>(random() % 3)});
  }
  EXPECT_THAT(derive_domain(random_points), IsEmpty());
  const auto found = derive_domain(samples_of(known("tetrahedron", 500), 100000));
  ASSERT_THAT(found, Not(IsEmpty()));
  EXPECT_THAT(found.front().declaration, HasSubstr("in loops z < n, y <= z, x <= y;"));
}

TEST(Derive, LargeCoordinatesDoNotOverflow) {
  std::mt19937_64 random(6);
  const auto coordinate = [&random] {
    return static_cast<std::int64_t>(random() % (2 * kMaxSampleCoordinate + 1)) -
           kMaxSampleCoordinate;
  };
  for (int round = 0; round < 300; ++round) {
    // Three loops over a box of 5 x 3 x 4. Every other time the steps are as large as they can be,
    // and the loops are not found if their inverse does not fit 64 bits.
    const bool is_huge = round % 2 == 0;
    std::vector<std::vector<std::int64_t>> steps(3, std::vector<std::int64_t>(3));
    for (auto& step : steps) {
      for (std::int64_t& each : step) each = coordinate() / (is_huge ? 10 : 1'000'000);
    }
    Samples samples{{"x", "y", "z"}, {}};
    for (std::int64_t k = 0; k < 60; ++k) {
      Point point = Point::zeros(3);
      for (int d = 0; d < 3; ++d) {
        const auto i = static_cast<std::size_t>(d);
        point[d] = steps[0][i] * (k / 12) + steps[1][i] * (k / 4 % 3) + steps[2][i] * (k % 4);
      }
      samples.points.push_back(point);
    }
    const auto found = derive_domain(samples);
    if (!is_huge) {
      ASSERT_THAT(found, Not(IsEmpty()));
      EXPECT_EQ(make_domain(found.front(), 60)->point(59), samples.points[59]);
    }
    Samples wild{{"x", "y"}, {}};
    for (int k = 0; k < 20; ++k) wild.points.push_back({coordinate(), coordinate()});
    EXPECT_THAT(derive_domain(wild), IsEmpty());
  }
}

TEST(Derive, DomainsGrowFromAnyFirstValue) {
  for (const std::int64_t first :
       {-kMaxSampleCoordinate, std::int64_t{-3}, kMaxSampleCoordinate - 20}) {
    Samples samples{{"x", "y"}, {}};
    for (std::int64_t k = 0; k < 20; ++k) samples.points.push_back({k % 4, first + k / 4});
    const auto found = derive_domain(samples);
    ASSERT_THAT(found, Not(IsEmpty()));
    const auto domain = make_domain(found.front(), 100000);
    ASSERT_TRUE(domain);
    EXPECT_GE(domain->count(), 100000);
    EXPECT_LT(domain->count(), 1000000);
    EXPECT_EQ(domain->point(99999), Point({3, first + 24999}));
  }
  // A triangle that ends in a point cannot grow.
  const auto upper = derive_domain(samples_of(known("upper_triangle", 6), 21));
  ASSERT_THAT(upper, Not(IsEmpty()));
  EXPECT_EQ(make_domain(upper.front(), 1000)->count(), 21);
}

TEST(Grades, CountInOrderAndInAnyOrder) {
  const auto truth = [](std::int64_t k) { return std::optional(Point({k % 10, k / 10})); };
  const auto columns = [](std::int64_t k) { return std::optional(Point({k / 10, k % 10})); };
  const Grade swapped = grade_answer(columns, truth, 100);
  EXPECT_EQ(swapped.in_order, 10);
  EXPECT_EQ(swapped.in_any_order, 100);
  const auto constant = [](std::int64_t) { return std::optional(Point({3, 3})); };
  EXPECT_EQ(grade_answer(constant, truth, 100).in_order, 1);
  EXPECT_EQ(grade_answer(constant, truth, 100).in_any_order, 1);
  const auto nothing = [](std::int64_t) { return std::optional<Point>(); };
  EXPECT_EQ(grade_answer(nothing, truth, 100).in_any_order, 0);
  EXPECT_TRUE(grade_answer(truth, truth, 5000, [] { return true; }).is_cut_off);
}

std::optional<Point> value(const std::string& text, std::int64_t k, std::string* why) {
  Diagnostics diags(Source("answer", text));
  auto formula = Formula::read(diags, 2);
  if (!formula) {
    *why = diags.sorted().front().message;
    return std::nullopt;
  }
  const auto point = formula->point(k);
  *why = formula->why();
  return point;
}

TEST(Formulas, AreEvaluatedWithinLimits) {
  std::string why;
  EXPECT_EQ(value("k => (k % 4, k / 4)", 6, &why), Point({2, 1}));
  EXPECT_EQ(
      value("k => let y = root(m => m * (m + 1) / 2, k) in (k - y * (y + 1) / 2, y);", 7, &why),
      Point({1, 3}));
  EXPECT_EQ(value("k => horner(2, k, 3, [(0, 0), (1, 0), (0, 1)])", 5, &why), Point({2, 1}));
  EXPECT_FALSE(value("k => (k / 0, 1)", 6, &why));
  EXPECT_EQ(why, "it divides by zero");
  EXPECT_FALSE(value("k => k", 6, &why));
  EXPECT_THAT(why, HasSubstr("2 coordinates"));
  EXPECT_FALSE(value("k => (k, k) and more", 6, &why));
  EXPECT_FALSE(value("(a, b) => (a, b)", 6, &why));
  EXPECT_FALSE(value("k => (q, k)", 6, &why));
}

TEST(Genetic, FindsRowsButNotTheMengerSponge) {
  const auto rows = derived(csv_of("domain d = (x, y) in loops y < 20, x < 4;", 50));
  EXPECT_THAT(rows, HasSubstr("x < 4"));
  Diagnostics diags(Source("a.csv", csv_of("domain d = (x, y) in loops y < 20, x < 4;", 50)));
  const auto samples = read_samples(diags);
  const std::string formula = evolve_formula(*samples);
  EXPECT_EQ(formula, evolve_formula(*samples));
  Diagnostics read(Source("formula", formula));
  auto map = Formula::read(read, 2);
  ASSERT_TRUE(map) << formula;
  for (std::int64_t k = 0; k < 50; ++k) {
    EXPECT_EQ(map->point(k), samples->points[static_cast<std::size_t>(k)]) << formula;
  }
}

}  // namespace
}  // namespace groma::domains
