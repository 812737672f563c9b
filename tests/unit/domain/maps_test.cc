// Maps of domains: large numbers, boxes, and walks over many points.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <set>

#include "groma/domain.h"

namespace groma::domains {
namespace {

__extension__ using Int128 = __int128;

using ::testing::HasSubstr;

std::optional<Domain> make_known(std::string_view name, const ParameterValues& values) {
  Diagnostics diags(known_domains()->source());
  return known_domains()->find(name)->make(values, diags);
}

// Returns the last domain of a text.
std::optional<Domain> make_of(const std::string& text, const ParameterValues& values = {},
                              std::string* why = nullptr) {
  Diagnostics diags(Source("a.domain", text));
  const auto library = DomainLibrary::read(diags);
  auto domain = library ? library->declarations().back().make(values, diags) : std::nullopt;
  if (!domain && why != nullptr) *why = render(diags);
  return domain;
}

std::vector<Point> points_of(const Domain& domain) {
  std::vector<Point> all;
  domain.for_each(0, domain.count(), [&](std::int64_t k, const Point& point) {
    EXPECT_EQ(k, static_cast<std::int64_t>(all.size()));
    all.push_back(point);
  });
  return all;
}

// ---- Near the largest numbers

// The number of random k for each domain. `.ci/full` sets it to 10^7.
std::int64_t random_samples() {
  const char* const given = std::getenv("GROMA_DOMAIN_SAMPLES");
  return given == nullptr ? 20'000 : std::max<std::int64_t>(1, std::atoll(given));
}

// Returns the largest value of the first parameter with which the domain can be made.
std::int64_t largest_value(const Declaration& declaration) {
  const std::string name = declaration.parameters().front().first;
  const auto fits = [&](std::int64_t value) {
    return make_known(declaration.name(), {{name, value}}).has_value();
  };
  // These look at each point.
  if (declaration.name() == "disk") return 500;
  if (declaration.name() == "folded_triangle") return 1000;
  std::int64_t low = *declaration.parameters().front().second, high = INT64_MAX;
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (fits(middle) ? low : high) = middle;
  }
  return low;
}

class AtTheTop : public ::testing::TestWithParam<std::string> {};

// Half of the numbers are from the upper half of the range; the others have a distance from the top
// of any magnitude.
TEST_P(AtTheTop, RandomPointsComeBack) {
  const Declaration declaration = *known_domains()->find(GetParam());
  const std::int64_t most = largest_value(declaration);
  const auto made =
      make_known(declaration.name(), {{declaration.parameters().front().first, most}});
  ASSERT_TRUE(made.has_value());
  const Domain& domain = *made;
  if (GetParam() != "disk" && GetParam() != "folded_triangle" && GetParam() != "frame") {
    EXPECT_GT(domain.count(), std::int64_t{1} << 54) << most;
  }
  std::mt19937_64 random(26);
  const auto count = static_cast<std::uint64_t>(domain.count());
  for (std::int64_t i = 0; i < random_samples(); ++i) {
    std::uint64_t distance = random() % (count / 2 + 1);
    if (i % 2 == 0) distance >>= random() % 63;
    const auto k = static_cast<std::int64_t>(count - 1 - std::min(distance, count - 1));
    const Point point = domain.point(k);
    ASSERT_EQ(domain.rank(point), k) << GetParam() << " " << most;
  }
}

std::vector<std::string> known_names() {
  std::vector<std::string> names;
  for (const Declaration& each : known_domains()->declarations()) names.push_back(each.name());
  return names;
}
INSTANTIATE_TEST_SUITE_P(Domains, AtTheTop, ::testing::ValuesIn(known_names()),
                         [](const auto& each) { return each.param; });

std::int64_t triangular(std::int64_t y) {
  return static_cast<std::int64_t>(Int128{y} * (y + 1) / 2);
}
std::int64_t tetrahedral(std::int64_t z) {
  return static_cast<std::int64_t>(Int128{z} * (z + 1) * (z + 2) / 6);
}
std::int64_t pyramidal(std::int64_t z) {
  return static_cast<std::int64_t>(Int128{z} * (z + 1) * (2 * z + 1) / 6);
}

// The numbers for which formulas in floating point are first wrong. They are the last points of
// their rows and layers.
TEST(Boundaries, FormulasInFloatingPointAreWrongHere) {
  const Domain triangle = *make_known("triangle", {{"n", 4294967295}});
  EXPECT_EQ(triangle.point(10'619'135), Point({4607, 4607}));
  EXPECT_EQ(triangle.point(10'619'136), Point({0, 4608}));
  EXPECT_EQ(triangle.point(9'007'199'321'849'855), Point({134217727, 134217727}));
  EXPECT_EQ(triangle.point(9'007'199'321'849'856), Point({0, 134217728}));
  const Domain tetrahedron = *make_known("tetrahedron", {{"n", 3810777}});
  EXPECT_EQ(tetrahedron.point(55), Point({5, 5, 5}));
  EXPECT_EQ(tetrahedron.point(56), Point({0, 0, 6}));
}

// The last point of a row or layer and the first one of the next.
TEST(Boundaries, OfRowsAndLayersAreExact) {
  std::mt19937_64 random(27);
  const auto some = [&](std::int64_t i, std::int64_t most) {
    // Small ones, those at powers of two, those at the end, and any.
    if (i < 1000) return i + 1;
    if (i < 1200) return std::min(most, (std::int64_t{1} << (i % 40)) + i / 40 % 3 - 1);
    if (i < 2200) return most - (i - 1200);
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most)) + 1;
  };
  const Domain triangle = *make_known("triangle", {{"n", 4294967295}}),
               tetrahedron = *make_known("tetrahedron", {{"n", 3810777}}),
               pyramid = *make_known("pyramid", {{"n", 3024616}}),
               upper = *make_known("upper_triangle", {{"n", 4294967295}});
  for (std::int64_t i = 0; i < random_samples(); ++i) {
    const std::int64_t y = std::max<std::int64_t>(1, some(i, 4294967294));
    ASSERT_EQ(triangle.point(triangular(y)), Point({0, y}));
    ASSERT_EQ(triangle.point(triangular(y) - 1), Point({y - 1, y - 1}));
    // The upper triangle is the lower one from behind.
    const std::int64_t row = 4294967294 - y;
    ASSERT_EQ(upper.point(upper.count() - 1 - triangular(y)), Point({4294967294, row}));
    ASSERT_EQ(upper.point(upper.count() - triangular(y)), Point({row + 1, row + 1}));
    const std::int64_t z = std::max<std::int64_t>(1, some(i, 3810776));
    ASSERT_EQ(tetrahedron.point(tetrahedral(z)), Point({0, 0, z}));
    ASSERT_EQ(tetrahedron.point(tetrahedral(z) - 1), Point({z - 1, z - 1, z - 1}));
    const std::int64_t p = std::max<std::int64_t>(1, some(i, 3024615));
    ASSERT_EQ(pyramid.point(pyramidal(p)), Point({0, 0, p}));
    ASSERT_EQ(pyramid.point(pyramidal(p) - 1), Point({p - 1, p - 1, p - 1}));
  }
}

// ---- Digits

// Every table of four vectors in base 2, all digits of which are handled at once, against the same
// vectors with one more coordinate, for which they are not. The first number of a point is enough
// to tell the order apart.
TEST(Digits, FourVectorsInBaseTwoByWords) {
  std::mt19937_64 random(29);
  for (int round = 0; round < 100; ++round) {
    std::vector<int> cells = {0, 1, 2, 3, 4, 5, 6, 7};
    std::shuffle(cells.begin(), cells.end(), random);
    std::string fast = "domain d(r) = (x, y, z) in digits base 2 levels r of ",
                plain = "domain d(r) = (x, y, z, w) in digits base 2 levels r of ";
    for (std::size_t i = 0; i < 4; ++i) {
      const std::string digits = fmt::format("{}({}, {}, {}", i == 0 ? "" : ", ", cells[i] & 1,
                                             cells[i] >> 1 & 1, cells[i] >> 2);
      fast += digits + ")";
      plain += digits + ", 0)";
    }
    for (const std::int64_t levels : {0, 1, 2, 5, 31}) {
      const auto words = make_of(fast + ";", {{"r", levels}}),
                 table = make_of(plain + ";", {{"r", levels}});
      ASSERT_TRUE(words && table) << fast;
      ASSERT_EQ(words->count(), table->count());
      for (int i = 0; i < 200; ++i) {
        const auto k =
            static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(words->count()));
        const Point expected = table->point(k), point = words->point(k);
        ASSERT_EQ(point, Point({expected[0], expected[1], expected[2]})) << fast << " " << k;
        ASSERT_EQ(words->rank(point), k) << fast;
        const auto any = [&] {
          return static_cast<std::int64_t>(random() % (std::uint64_t{2} << levels)) - 1;
        };
        const Point other{any(), any(), any()};
        ASSERT_EQ(words->rank(other), table->rank({other[0], other[1], other[2], 0})) << fast;
      }
    }
  }
}

// ---- Walks

TEST(Walk, GivesThePointsInTheirOrder) {
  for (const Declaration& declaration : known_domains()->declarations()) {
    const auto domain = make_known(declaration.name(), {});
    ASSERT_TRUE(domain.has_value()) << declaration.name();
    for (const std::int64_t begin : {std::int64_t{0}, std::int64_t{1}, domain->count() / 2}) {
      std::int64_t next = begin;
      domain->for_each(begin, domain->count(), [&](std::int64_t k, const Point& point) {
        ASSERT_EQ(k, next++);
        ASSERT_EQ(point, domain->point(k)) << declaration.name() << " " << k;
      });
      EXPECT_EQ(next, domain->count());
    }
    domain->for_each(domain->count(), domain->count(),
                     [](std::int64_t, const Point&) { ADD_FAILURE() << "no point was asked for"; });
  }
}

TEST(Walk, EndsWhenTheFunctionReturnsFalse) {
  int calls = 0;
  make_known("menger", {})->for_each(7, 300, [&](std::int64_t k, const Point&) -> bool {
    ++calls;
    return k < 150;
  });
  EXPECT_EQ(calls, 144);
}

// Many inner loops without iterations lie between two points.
TEST(Walk, PassesEmptyLoopsQuickly) {
  const auto domain = make_of(
      "domain d(n) = (a, b, c, x) in loops a < 3, b <= a, c < n, x < a - b;", {{"n", 1000000000}});
  ASSERT_TRUE(domain.has_value());
  // a = 1 has points for b = 0; a = 2 for b = 0 and b = 1.
  EXPECT_EQ(domain->count(), 4'000'000'000);
  const auto expect_walk = [&](std::int64_t begin) {
    domain->for_each(begin, begin + 10, [&](std::int64_t k, const Point& point) {
      EXPECT_EQ(point, domain->point(k));
      EXPECT_EQ(domain->rank(point), k);
    });
  };
  expect_walk(0);
  expect_walk(999'999'995);
  expect_walk(2'999'999'995);
}

// ---- Boxes

TEST(Boxes, DifferencesAndUnionsAreNotLookedAtPointByPoint) {
  const auto frame = make_known("frame", {{"n", 1000000}, {"w", 2}});
  ASSERT_TRUE(frame.has_value());
  EXPECT_EQ(frame->count(), 7999984);
  EXPECT_EQ(frame->proof().kind, Proof::Kind::kBoxes);
  EXPECT_THAT(frame->proof().words, HasSubstr("cut into 6 intervals"));
  EXPECT_EQ(frame->point(2000000), Point({0, 2}));
  EXPECT_EQ(frame->point(2000001), Point({1, 2}));
  EXPECT_EQ(frame->point(2000002), Point({999998, 2}));
  EXPECT_FALSE(frame->contains({2, 2}));
  const auto huge = make_known("frame", {{"n", 3000000000}, {"w", 1}});
  ASSERT_TRUE(huge.has_value());
  EXPECT_EQ(huge->count(), 11999999996);
}

// Random unions and differences against the same sets with a condition that is always true, for
// which each point is looked at.
TEST(Boxes, AreTheSameSetInTheSameOrderAsByPoints) {
  std::mt19937_64 random(28);
  const auto below = [&](std::uint64_t n) { return static_cast<int>(random() % n); };
  for (int round = 0; round < 300; ++round) {
    std::string text = "domain d = ", slow = "domain d = ";
    const int parts = 2 + below(4);
    for (int p = 0; p < parts; ++p) {
      const char* const join = below(2) == 0 ? " or " : " except ";
      const int a = below(6), b = a + below(5), c = below(6), d = c + below(5), e = below(3);
      const char* const head = below(2) == 0 ? "(x, y, z)" : "(y + 1, x, z)";
      const std::string part =
          fmt::format("{} in loops {} <= y < {}, {} <= x < {}, {} <= z < 4", head, a, b, c, d, e);
      text += (p == 0 ? "" : join) + part;
      slow += (p == 0 ? "" : join) + part + " where 1";
    }
    const auto fast = make_of(text + ";"), plain = make_of(slow + ";");
    ASSERT_TRUE(fast && plain) << text;
    ASSERT_EQ(fast->count(), plain->count()) << text;
    ASSERT_EQ(points_of(*fast), points_of(*plain)) << text;
    ASSERT_EQ(fast->bounds().extents, plain->bounds().extents) << text;
    for (std::int64_t k = 0; k < fast->count(); ++k) {
      ASSERT_EQ(fast->rank(fast->point(k)), k) << text;
      ASSERT_EQ(fast->point(k), plain->point(k)) << text;
    }
    for (int i = 0; i < 200; ++i) {
      const Point point{below(14) - 2, below(14) - 2, below(6) - 1};
      ASSERT_EQ(fast->rank(point), plain->rank(point)) << text;
    }
  }
}

TEST(Boxes, SharedPointsOfLargePartsAreFound) {
  std::string why;
  const std::string text =
      "domain d = (x, y) in loops y < 1000000000, x < 1000000000 then (x, y) in loops 999999999 <= "
      "y < 1000000010, 999999999 <= x < 1000000010;";
  EXPECT_FALSE(make_of(text, {}, &why));
  EXPECT_THAT(why, HasSubstr("share the point (999999999, 999999999)"));
}

TEST(Boxes, TooManyPiecesAreRefusedOrLookedAt) {
  // Points on a diagonal of a cube cut it into many pieces, but few points can be looked at.
  std::string text = "domain d = (x, y, z) in loops z < 60, y < 60, x < 60";
  for (int i = 0; i < 60; ++i) {
    text += fmt::format(
        " except (x, y, z) in loops {0} <= x <= {0}, {0} <= y <= {0}, {0} <= z <= {0}", i);
  }
  const auto domain = make_of(text + ";");
  ASSERT_TRUE(domain.has_value());
  EXPECT_EQ(domain->count(), 60 * 60 * 60 - 60);
  EXPECT_EQ(domain->rank(domain->point(5000)), 5000);
}

}  // namespace
}  // namespace groma::domains
