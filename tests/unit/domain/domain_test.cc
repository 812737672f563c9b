// Every known domain against its definition: the points of the whole box that satisfy a predicate
// which is written here anew.
#include "groma/domain.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <ostream>
#include <random>
#include <set>

namespace groma::domains {
namespace {

__extension__ using Int128 = __int128;

using ::testing::HasSubstr;

using Predicate =
    std::function<bool(const std::vector<std::int64_t>& point, std::int64_t a, std::int64_t b)>;

// Returns true if all digits of the point at the places below r satisfy a condition.
template <typename Condition>
bool all_digits(const std::vector<std::int64_t>& point, std::int64_t base, std::int64_t r,
                const Condition& condition) {
  std::vector<std::int64_t> rest = point;
  for (std::int64_t i = 0; i < r; ++i) {
    std::vector<std::int64_t> digits;
    for (std::int64_t& each : rest) {
      digits.push_back(each % base);
      each /= base;
    }
    if (!condition(digits)) return false;
  }
  return std::all_of(rest.begin(), rest.end(), [](std::int64_t each) { return each == 0; });
}
std::int64_t ones(const std::vector<std::int64_t>& digits) {
  return std::count(digits.begin(), digits.end(), 1);
}

struct Expected {
  const char* name;
  // The values of the parameters, in their order.
  std::vector<std::vector<std::int64_t>> parameters;
  // Returns the extent of the box, which begins at 0 in each dimension.
  std::function<std::int64_t(std::int64_t, std::int64_t)> extent;
  Predicate inside;
};

// Shows a parameter of a test by its name.
std::ostream& operator<<(std::ostream& out, const Expected& expected) {
  return out << expected.name;
}

std::int64_t power(std::int64_t base, std::int64_t exponent) {
  return exponent == 0 ? 1 : base * power(base, exponent - 1);
}
std::int64_t side(std::int64_t n, std::int64_t) { return n; }
std::int64_t threes(std::int64_t r, std::int64_t) { return power(3, r); }
std::int64_t twos(std::int64_t r, std::int64_t) { return power(2, r); }

const std::vector<std::vector<std::int64_t>> kSides = {{0}, {1}, {2}, {3}, {7}, {20}};
const std::vector<std::vector<std::int64_t>> kFew = {{0}, {1}, {2}, {5}, {9}};
const std::vector<std::vector<std::int64_t>> kLevels = {{0}, {1}, {2}, {3}};

using P = std::vector<std::int64_t>;

const std::vector<Expected>& all_expected() {
  static const std::vector<Expected> all = {
      {"triangle", kSides, side, [](const P& p, auto, auto) { return p[0] <= p[1]; }},
      {"pairs", kSides, side, [](const P& p, auto, auto) { return p[0] < p[1]; }},
      {"upper_triangle", kSides, side, [](const P& p, auto, auto) { return p[0] >= p[1]; }},
      {"folded_triangle", kSides, side, [](const P& p, auto, auto) { return p[0] <= p[1]; }},
      {"band",
       {{10, 3}, {20, 7}, {9, 9}, {5, 1}},
       side,
       [](const P& p, auto, auto w) { return p[1] - p[0] >= 0 && p[1] - p[0] < w; }},
      {"diamond",
       {{0}, {1}, {5}, {12}},
       [](auto r, auto) { return 2 * r + 1; },
       [](const P& p, auto r, auto) { return std::abs(p[0] - r) + std::abs(p[1] - r) <= r; }},
      {"disk",
       {{0}, {1}, {8}, {15}},
       [](auto r, auto) { return 2 * r + 1; },
       [](const P& p, auto r, auto) {
         return (p[0] - r) * (p[0] - r) + (p[1] - r) * (p[1] - r) <= r * r;
       }},
      {"tetrahedron", kFew, side,
       [](const P& p, auto, auto) { return p[0] <= p[1] && p[1] <= p[2]; }},
      {"triples", kFew, side, [](const P& p, auto, auto) { return p[0] < p[1] && p[1] < p[2]; }},
      {"pyramid", kFew, side, [](const P& p, auto, auto) { return std::max(p[0], p[1]) <= p[2]; }},
      {"simplex4",
       {{0}, {1}, {3}, {6}},
       side,
       [](const P& p, auto, auto) { return std::is_sorted(p.begin(), p.end()); }},
      {"frame",
       {{9, 2}, {10, 3}, {6, 1}},
       side,
       [](const P& p, auto n, auto w) {
         const auto inner = [&](std::int64_t x) { return x >= w && x < n - w; };
         return !(inner(p[0]) && inner(p[1]));
       }},
      {"gasket",
       {{0}, {1}, {4}, {7}},
       twos,
       [](const P& p, auto, auto) { return (p[0] & p[1]) == 0; }},
      {"gasket_right",
       {{0}, {1}, {4}, {6}},
       twos,
       [](const P& p, auto r, auto) { return (p[0] & ((1 << r) - 1 - p[1])) == 0; }},
      {"carpet", kLevels, threes,
       [](const P& p, auto r, auto) {
         return all_digits(p, 3, r, [](const P& d) { return d != P{1, 1}; });
       }},
      {"vicsek_plus", kLevels, threes,
       [](const P& p, auto r, auto) {
         return all_digits(p, 3, r, [](const P& d) { return ones(d) > 0; });
       }},
      {"vicsek_cross", kLevels, threes,
       [](const P& p, auto r, auto) {
         return all_digits(p, 3, r, [](const P& d) { return (d[0] + d[1]) % 2 == 0; });
       }},
      {"cantor2", kLevels, threes,
       [](const P& p, auto r, auto) {
         return all_digits(p, 3, r, [](const P& d) { return ones(d) == 0; });
       }},
      {"pascal3", kLevels, threes,
       [](const P& p, auto, auto) {
         // The definition: 3 does not divide the binomial coefficient of y over x.
         if (p[0] > p[1]) return false;
         int threes_in = 0;
         for (std::int64_t i = 1; i <= p[0]; ++i) {
           for (std::int64_t n = p[1] - p[0] + i; n % 3 == 0; n /= 3) ++threes_in;
           for (std::int64_t n = i; n % 3 == 0; n /= 3) --threes_in;
         }
         return threes_in == 0;
       }},
      {"sierpinski3",
       {{0}, {1}, {3}, {5}},
       twos,
       [](const P& p, auto, auto) { return ((p[0] & p[1]) | (p[1] & p[2]) | (p[0] & p[2])) == 0; }},
      {"menger", kLevels, threes,
       [](const P& p, auto r, auto) {
         return all_digits(p, 3, r, [](const P& d) { return ones(d) < 2; });
       }},
      {"vicsek3", kLevels, threes,
       [](const P& p, auto r, auto) {
         return all_digits(p, 3, r, [](const P& d) { return ones(d) >= 2; });
       }},
      {"mosely", kLevels, threes,
       [](const P& p, auto r, auto) {
         return all_digits(p, 3, r, [](const P& d) { return ones(d) == 1 || ones(d) == 2; });
       }},
      {"cantor3", kLevels, threes,
       [](const P& p, auto r, auto) {
         return all_digits(p, 3, r, [](const P& d) { return ones(d) == 0; });
       }},
  };
  return all;
}

Domain make(std::string_view name, const std::vector<std::int64_t>& values) {
  const auto declaration = known_domains()->find(name);
  GROMA_CHECK(declaration.has_value());
  ParameterValues given;
  for (std::size_t i = 0; i < values.size(); ++i) {
    given.emplace_back(declaration->parameters()[i].first, values[i]);
  }
  Diagnostics diags(known_domains()->source());
  auto domain = declaration->make(given, diags);
  EXPECT_TRUE(domain.has_value()) << render(diags);
  return *domain;
}

class Known : public ::testing::TestWithParam<Expected> {};

TEST_P(Known, IsABijectionOfItsPoints) {
  const Expected& expected = GetParam();
  for (const std::vector<std::int64_t>& values : expected.parameters) {
    const Domain domain = make(expected.name, values);
    const std::int64_t a = values[0], b = values.size() > 1 ? values[1] : 0;
    const std::int64_t extent = expected.extent(a, b);
    Point extents = Point::zeros(domain.dimensions());
    for (int d = 0; d < domain.dimensions(); ++d) extents[d] = extent;
    const Rect box = *Rect::make(extents);
    std::int64_t count = 0;
    Point point = box.lower;
    for (bool more = box.volume() > 0; more; more = next_point(box, &point)) {
      const std::vector<std::int64_t> p(point.coordinates().begin(), point.coordinates().end());
      const bool inside = expected.inside(p, a, b);
      count += inside ? 1 : 0;
      const auto k = domain.rank(point);
      ASSERT_EQ(k.has_value(), inside) << expected.name << " " << a;
      if (k) {
        ASSERT_EQ(domain.point(*k), point) << expected.name << " " << a;
      }
    }
    EXPECT_EQ(domain.count(), count) << expected.name << " " << a;
    for (std::int64_t k = 0; k < count; ++k) ASSERT_EQ(domain.rank(domain.point(k)), k);
    // Points around the box are not in the domain.
    for (int d = 0; d < domain.dimensions(); ++d) {
      for (const std::int64_t outside : {std::int64_t{-1}, extent, INT64_MAX, INT64_MIN}) {
        Point beside = Point::zeros(domain.dimensions());
        beside[d] = outside;
        EXPECT_FALSE(domain.contains(beside)) << expected.name << " " << a;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Domains, Known, ::testing::ValuesIn(all_expected()),
                         [](const auto& each) { return std::string(each.param.name); });

TEST(KnownDomains, AreAllTested) {
  std::set<std::string> tested, known;
  for (const Expected& each : all_expected()) tested.insert(each.name);
  for (const Declaration& each : known_domains()->declarations()) {
    known.insert(each.name());
    EXPECT_FALSE(each.comment().empty()) << each.name();
  }
  EXPECT_EQ(tested, known);
}

// ---- Near the largest numbers

// The first and the last point of each of many rows, near the largest domain.
TEST(Large, TrianglesAreExactAtTheBoundsOfRows) {
  const std::int64_t n = 4294967295;
  const Domain triangle = make("triangle", {n});
  const auto before = [](std::int64_t y) {
    return static_cast<std::int64_t>(static_cast<Int128>(y) * static_cast<Int128>(y + 1) / 2);
  };
  std::mt19937_64 random(26);
  for (int i = 0; i < 20000; ++i) {
    const std::int64_t y =
        i < 64 ? std::min(n - 1, (std::int64_t{1} << (i % 33)) + i / 33 - 1)
               : static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n - 1)) + 1;
    if (y < 1) continue;
    EXPECT_EQ(triangle.point(before(y)), Point({0, y}));
    EXPECT_EQ(triangle.point(before(y) - 1), Point({y - 1, y - 1}));
  }
  EXPECT_EQ(triangle.point(triangle.count() - 1), Point({n - 1, n - 1}));
}

TEST(Large, RandomPointsComeBack) {
  std::mt19937_64 random(27);
  for (const auto& [name, value] : {std::pair<const char*, std::int64_t>{"triangle", 4294967295},
                                    {"pairs", 4294967295},
                                    {"tetrahedron", 3810777},
                                    {"triples", 3810777},
                                    {"pyramid", 3000000},
                                    {"simplex4", 120000},
                                    {"gasket", 39},
                                    {"carpet", 20},
                                    {"sierpinski3", 31},
                                    {"menger", 14},
                                    {"mosely", 15},
                                    {"diamond", 2000000000}}) {
    const Domain domain = make(name, {value});
    EXPECT_GT(domain.count(), std::int64_t{1} << 56) << name;
    for (int i = 0; i < 20000; ++i) {
      const std::int64_t k =
          static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(domain.count()));
      ASSERT_EQ(domain.rank(domain.point(k)), k) << name;
    }
    for (const std::int64_t k : {std::int64_t{0}, domain.count() - 1}) {
      EXPECT_EQ(domain.rank(domain.point(k)), k) << name;
    }
  }
}

TEST(Large, ThePointBehindTheLastOfALayerBeginsTheNext) {
  const Domain tetrahedron = make("tetrahedron", {3810777});
  std::mt19937_64 random(28);
  for (int i = 0; i < 20000; ++i) {
    const auto z = static_cast<std::int64_t>(random() % 3810775) + 1;
    const auto wide = static_cast<Int128>(z);
    const auto before = static_cast<std::int64_t>(wide * (wide + 1) * (wide + 2) / 6);
    EXPECT_EQ(tetrahedron.point(before), Point({0, 0, z}));
    EXPECT_EQ(tetrahedron.point(before - 1), Point({z - 1, z - 1, z - 1}));
  }
}

// ---- Proofs

TEST(Proofs, SayHowTheMapIsKnown) {
  EXPECT_EQ(make("menger", {3}).proof().kind, Proof::Kind::kDigitTable);
  EXPECT_THAT(make("menger", {3}).proof().words, HasSubstr("20 digit vectors are distinct"));
  EXPECT_EQ(make("tetrahedron", {9}).proof().kind, Proof::Kind::kPolynomial);
  EXPECT_EQ(make("band", {12, 3}).proof().kind, Proof::Kind::kPolynomial);
  EXPECT_EQ(make("diamond", {5}).proof().kind, Proof::Kind::kPolynomial);
  EXPECT_EQ(make("disk", {5}).proof().kind, Proof::Kind::kExhaustive);
  EXPECT_EQ(make("folded_triangle", {5}).proof().kind, Proof::Kind::kExhaustive);
}

// ---- Mistakes

// Returns the first diagnostic of a declaration that cannot be read or made.
std::string mistake(const std::string& text, const ParameterValues& values = {}) {
  Diagnostics diags(Source("a.domain", text));
  const auto library = DomainLibrary::read(diags);
  if (library) {
    const auto domain = library->declarations().back().make(values, diags);
    if (domain) return fmt::format("{} points", domain->count());
  }
  std::string words;
  const Diagnostic first = diags.sorted().front();
  words = first.message + " [" + std::string(name_of(first.id)) + "]";
  if (first.range) words += " at `" + std::string(diags.source().text(*first.range)) + "`";
  for (const auto& note : diags.all().back().notes) words += "; " + note.message;
  for (const std::string& help : diags.all().back().helps) words += "; " + help;
  return words;
}

TEST(Mistakes, AreNamedWithTheirPlace) {
  EXPECT_EQ(mistake("domain d = (x, y) in loops y < 4, x <= y;"), "10 points");
  EXPECT_THAT(mistake("domain d = (x, y) in loops y < 4 x <= y;"),
              HasSubstr("expected `;`, found `x` [expected-token] at `x`"));
  EXPECT_THAT(mistake("domain d = (x, y) in loops y < 4, x <= z;"),
              HasSubstr("nothing is named `z` [unknown-name] at `z`"));
  EXPECT_THAT(mistake("domain d = (x, y) in loops y < 4, x * y <= 3;"),
              HasSubstr("the name of a loop variable"));
  EXPECT_THAT(mistake("domain d = (x, y) in loops y < 4, x < y * y;"),
              HasSubstr("this multiplies loop variables [domain-bound]"));
  EXPECT_THAT(mistake("domain d = (x, y) in loops y < 4, x < y / 2;"),
              HasSubstr("is not a sum of multiples of loop variables [domain-bound] at `y / 2`"));
  EXPECT_THAT(mistake("domain d = (x, y) in loops y < 4, x < y - 2;"),
              HasSubstr("the loop over `x` can have a negative length [domain-length]"));
  EXPECT_THAT(mistake("domain d = (x + y, x + y) in loops y < 4, x < 3;"),
              HasSubstr("gives two points the same coordinates"));
  EXPECT_THAT(mistake("domain d = (x, y) in digits base 3 levels 2 where x == 7;"),
              HasSubstr("no digits satisfy the condition [domain-digits] at `x == 7`"));
  EXPECT_THAT(mistake("domain d = (x, y) in digits base 3 levels 2 where x / y == 1;"),
              HasSubstr("this has no value: it divides by zero [domain-value] at `x / y`"));
  EXPECT_THAT(mistake("domain d = (x, y) in digits base 2 levels 2 of (0, 1), (0, 1);"),
              HasSubstr("the digits (0, 1) are listed twice"));
  EXPECT_THAT(mistake("domain d = (x, y) in digits base 2 levels 2 of (0, 2), (0, 1);"),
              HasSubstr("(0, 2) is not made of digits of the base"));
  EXPECT_THAT(mistake("domain d = (x, y) in loops y < 4, x < 4 then (x, y) in loops y < 2, x < 1;"),
              HasSubstr("the parts of `d` share the point (0, 0) [domain-parts]"));
  EXPECT_THAT(mistake("domain d = d;"), HasSubstr("[use-before-statement]"));
  EXPECT_THAT(mistake("domain d(n) = x in loops x < n;"),
              HasSubstr("`d` needs a value for `n` [domain-parameter]"));
  EXPECT_THAT(mistake("domain d(n = 1) = x in loops x < n;", {{"m", 3}}),
              HasSubstr("`d` has no parameter `m` [domain-parameter]"));
}

// Each typical mistake has the place of the wrong text and a cure in words.
TEST(Mistakes, HaveACure) {
  struct Case {
    const char* text;
    const char* message;
    const char* cure;
  };
  const Case cases[] = {
      {"domain d(n = 4) = (x, y) in loops x <= y, y < n;", "[unknown-name] at `y`",
       "write the loop over `y` first"},
      {"domain d(n = 4) = (x, y) in loops y < n;", "[unknown-name] at `x`",
       "each variable of the point needs a loop, such as `x < n`"},
      {"domain d(n = 4) = (x, y) in loops y < width, x <= y;", "[unknown-name] at `width`",
       "if `width` is a parameter, write it behind the name: `domain d(width, ...)`"},
      {"domain d(n = 4) = (x, y) in loops y < 2n, x <= y;", "[not-an-integer] at `2n`",
       "write `2 * n` for a product"},
      {"domain d(n = 4) = (x, y) in loops y < n && x <= y;", "[expected-token] at `&&`",
       "separate the bounds of loops by commas"},
      {"domain d(n = 4) = (x, y) in loops y < n and x <= y;", "[expected-token] at `and`",
       "separate the bounds of loops by commas"},
      {"domain d(n = 4) = (x, y) in loops y < n, x < n where x < y and y > 1;",
       "[expected-token] at `and`", "write `&&` for `and`"},
      {"domain d(n = 4) = (x, y) in loops y < n, x < n where x = y;", "[expected-token] at `=`",
       "write `==` to compare numbers"},
      {"domain d(n = 4) = (x, y) in digits base 2 levels n where (x & y) = 0;",
       "[expected-token] at `=`", "write `==` to compare numbers"},
      {"domain d(n = 4) = (x, y) in loops y = n, x <= y;", "[expected-token] at `=`",
       "a loop has an upper bound, such as `y < n`"},
      {"domain d(n = 4) = (x, y) in loops y > 0, x <= y;", "[expected-token] at `>`",
       "write the smaller side first"},
      {"domain d(n = 4) = (x, y) in loops (y < n), (x <= y);", "[expected-token] at `y < n`",
       "write `y < n` without parentheses"},
      {"domain d(n = 4) = x, y in loops y < n, x <= y;", "[expected-token] at `,`",
       "write the coordinates of a point in parentheses"},
      {"domain d(n = 4) = (x, y) in loops y < n, x <= y", "found the end of the text",
       "end each declaration with `;`"},
      {"d(n = 4) = (x, y) in loops y < n, x <= y;", "[expected-token] at `d`",
       "a declaration looks like"},
      {"domain d(n = -3) = (x, y) in loops y < n, x <= y;", "[domain-length] at `y < n`",
       "give parameters with which this loop has at least 0 iterations"},
      {"domain d(a = 1, b = 1, c = 1, d = 1, e = 1) = (x, y) in loops y < a, x <= y;",
       "has 5 parameters, and at most 4 are allowed [domain-parameter] at `e`",
       "write a number for a parameter"},
  };
  for (const Case& each : cases) {
    const std::string found = mistake(each.text);
    EXPECT_THAT(found, HasSubstr(each.message)) << each.text;
    EXPECT_THAT(found, HasSubstr(each.cure)) << each.text;
    EXPECT_THAT(found, ::testing::Not(HasSubstr("the mapping"))) << each.text;
  }
  EXPECT_THAT(mistake("domain d(n = -3) = (x, y) in loops y < n, x <= y;"), HasSubstr("n = -3"));
}

TEST(Mistakes, MapsThatAreNoBijectionsAreRefused) {
  const std::string points = "domain d = (x, y) in loops y < 3, x < 2 by k => ";
  EXPECT_EQ(mistake(points + "(k % 2, k / 2);"), "6 points");
  EXPECT_THAT(mistake(points + "(k % 2, k / 3);"),
              HasSubstr("is not a bijection: 0 and 2 are both (0, 0) [domain-map]"));
  EXPECT_THAT(mistake(points + "(k, 0);"), HasSubstr("2 is (2, 0), which is not in the domain"));
  EXPECT_THAT(mistake(points + "(k / (2 - k), 0);"), HasSubstr("it divides by zero"));
  EXPECT_THAT(mistake(points + "k;"), HasSubstr("needs 2 coordinates, not 1 [type-mismatch]"));
  EXPECT_THAT(mistake(points + "(root(m => 5 - m, k), 0);"),
              HasSubstr("there is no such number [domain-value]"));
  EXPECT_THAT(mistake(points + "(root(m => m * (3 - m) - 9, k), 0);"),
              HasSubstr("the function below the root decreases"));
}

TEST(Mistakes, NumbersThatDoNotFitAreFoundBeforehand) {
  const std::string triangle = "domain d(n) = (x, y) in loops y < n, x <= y;";
  EXPECT_THAT(mistake(triangle, {{"n", std::int64_t{1} << 60}}),
              HasSubstr("`n` may be at most 4294967295"));
  const std::string menger =
      "domain d(r) = (x, y, z) in digits base 3 levels r where (x==1) + (y==1) + (z==1) <= 1;";
  EXPECT_THAT(mistake(menger, {{"r", 40}}), HasSubstr("at most 14 levels do"));
  EXPECT_THAT(mistake("domain d(n) = (x, y) in loops y < n, x < n where x == y;",
                      {{"n", std::int64_t{1} << 20}}),
              HasSubstr("at most 2^28 are looked at [domain-size]"));
}

TEST(Mistakes, HostileTextsEndSoon) {
  std::string deep = "domain d = x in loops x < ";
  for (int i = 0; i < 10000; ++i) deep += "(";
  EXPECT_THAT(mistake(deep), HasSubstr("[nesting-too-deep]"));
  std::string minus = "domain d = x in loops x < ";
  for (int i = 0; i < 10000; ++i) minus += "-";
  EXPECT_THAT(mistake(minus + "1;"), HasSubstr("[nesting-too-deep]"));
  EXPECT_THAT(mistake("domain d = x in loops x < 99999999999999999999;"),
              HasSubstr("[integer-too-large]"));
  EXPECT_THAT(mistake("domain d = x in loops x < 3 where fold(x, 2, 64, 0, (a, q, i) => fold(x, 2, "
                      "64, a, (b, p, j) => fold(x, 2, 64, b, (c, o, l) => fold(x, 2, 64, c, (e, f, "
                      "g) => e + 1))));"),
              HasSubstr("more than a million steps"));
}

}  // namespace
}  // namespace groma::domains
