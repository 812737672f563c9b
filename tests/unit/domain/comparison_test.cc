// Comparisons of maps with their declarations, and declarations that would take long or crash.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "domain/expression.h"
#include "domain/tree.h"
#include "groma/domain.h"

namespace groma::domains {
namespace {

using ::testing::HasSubstr;

// Compares the last domain of a text. Returns nullopt if it cannot be made; `*why` says why.
std::optional<Comparison> compare_last(const std::string& text, std::string* why = nullptr,
                                       const CompareOptions& options = {}) {
  Diagnostics diags(Source("a.domain", text));
  const auto library = DomainLibrary::read(diags);
  const auto domain =
      library ? library->declarations().back().make({}, diags) : std::optional<Domain>();
  if (domain) return library->declarations().back().compare(*domain, {}, options);
  if (why != nullptr) *why = render(diags);
  return std::nullopt;
}

TEST(Comparison, AllKnownDomainsAreWhatTheirTextsSay) {
  for (const Declaration& declaration : known_domains()->declarations()) {
    Diagnostics diags(known_domains()->source());
    const auto domain = declaration.make({}, diags);
    ASSERT_TRUE(domain.has_value());
    const Comparison comparison = declaration.compare(*domain, {});
    EXPECT_EQ(comparison.difference, "") << declaration.name();
    EXPECT_EQ(comparison.mapped, domain->count());
    EXPECT_TRUE(comparison.was_enumerated);
    EXPECT_EQ(comparison.enumerated, domain->count());
    EXPECT_EQ(comparison.box, domain->bounds().volume());
    EXPECT_FALSE(comparison.was_stopped);
  }
}

TEST(Comparison, FollowsEveryPartOfTheLanguage) {
  for (const char* const text : {
           "domain d = (x, 2 * y - x) in loops 3 < y <= 9, y - 2 <= x < y + 3 where (x + y) % 3 != "
           "1;",
           "domain e(n, m) = (x, y) in loops x < n, y < m; domain d = e(3, 5) then e(2 - 1, 1 + 0) "
           "except e(1, 1);",
           "domain e(n) = x in loops x < n by k => n - 1 - k; domain d = e(4) or e(7);",
           "domain d = (x - 3, y, x + y) in digits base 4 levels 3 where (x ^ y) > 1;",
           "domain d = x in digits base 10 levels 0 of 3, 4;",
           "domain d = (a, b) in loops a < 0, b < a;",
       }) {
    std::string why;
    const auto comparison = compare_last(text, &why);
    if (!comparison) {
      // The second text has parts that share points.
      EXPECT_THAT(why, HasSubstr("[domain-parts]")) << text;
      continue;
    }
    EXPECT_EQ(comparison->difference, "") << text;
    EXPECT_TRUE(comparison->was_enumerated) << text;
  }
}

TEST(Comparison, LeavesOutWhatIsTooLarge) {
  CompareOptions options;
  options.max_mapped = 10;
  options.max_enumerated = 10;
  options.max_box = 10;
  const auto comparison =
      compare_last("domain d = (x, y) in loops y < 100, x <= y;", nullptr, options);
  EXPECT_EQ(comparison->mapped, 10);
  EXPECT_FALSE(comparison->was_enumerated);
  EXPECT_EQ(comparison->box, 0);
  EXPECT_EQ(comparison->difference, "");
}

// The map computes with polynomials, in which these numbers cancel out.
TEST(Comparison, NumbersThatDoNotFitInTheTextAreNoDifference) {
  const auto comparison = compare_last(
      "domain d = (x * 4611686018427387904 + y - x * 4611686018427387904, x) in loops x < 9, y < "
      "3;");
  ASSERT_TRUE(comparison.has_value());
  EXPECT_EQ(comparison->difference, "");
  EXPECT_FALSE(comparison->was_enumerated);
}

TEST(Comparison, StopsWhenItIsAskedTo) {
  int calls = 0;
  CompareOptions options;
  options.progress = [&](std::int64_t, std::int64_t all) {
    EXPECT_EQ(all, 500500);
    return ++calls < 3;
  };
  const auto comparison =
      compare_last("domain d = (x, y) in loops y < 1000, x <= y;", nullptr, options);
  EXPECT_TRUE(comparison->was_stopped);
  EXPECT_EQ(calls, 3);
}

// ---- Hostile declarations

std::string first_line(const std::string& text) {
  std::string why;
  const auto comparison = compare_last(text, &why);
  return comparison ? fmt::format("{} points", comparison->mapped) : why.substr(0, why.find('\n'));
}

std::string repeated(std::string_view text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

TEST(Hostile, LongChainsOfOperatorsEndSoon) {
  EXPECT_EQ(first_line("domain d = x in loops x < 3 where " + repeated("1 + ", 400) + "1;"),
            "3 points");
  for (const char* const chain : {"1 + ", "1 && ", "x * "}) {
    EXPECT_THAT(first_line("domain d = x in loops x < 3 where " + repeated(chain, 300000) + "1;"),
                HasSubstr("nested more than 1000 levels deep [nesting-too-deep]"));
  }
  EXPECT_THAT(first_line("domain d = x in loops x < " + repeated("1 + ", 30000) + "1;"),
              HasSubstr("[nesting-too-deep]"));
  EXPECT_THAT(first_line("domain d = x in loops x < 3 where x" + repeated("[0]", 30000) + ";"),
              HasSubstr("[nesting-too-deep]"));
}

TEST(Hostile, LongCommentsAndManyDeclarationsEndSoon) {
  EXPECT_EQ(first_line(repeated("# a line\n", 300000) + "domain d = x in loops x < 3;"),
            "3 points");
  EXPECT_EQ(first_line("#" + repeated("x", 3000000) + "\ndomain d = x in loops x < 3;"),
            "3 points");
  std::string many;
  for (int i = 0; i < 1001; ++i) many += fmt::format("domain d{} = x in loops x < 3;", i);
  EXPECT_THAT(first_line(many), HasSubstr("[domain-size]"));
}

TEST(Hostile, NamesThatMultiplyPartsAreRefused) {
  std::string text = "domain d0(a) = x in loops a <= x < a + 1;";
  for (int i = 1; i < 16; ++i) {
    text += fmt::format("domain d{0}(a) = d{1}(a) then d{1}(a + {2});", i, i - 1, 1 << (i - 1));
  }
  EXPECT_THAT(first_line(text + "domain d = d15(0);"),
              HasSubstr("it is made of more than 1000 parts [domain-size]"));
}

TEST(Hostile, EvaluationsAreLimitedTogether) {
  Diagnostics diags(Source(
      "a.domain", "domain d = x in loops x < 3 where fold(x, 2, 64, 0, (a, q, i) => a + q + i);"));
  std::vector<DeclarationTree> trees = parse_declarations(diags);
  ASSERT_EQ(trees.size(), 1U);
  Expression condition = *trees[0].parts[0].second.where;
  ASSERT_TRUE(resolve(condition, {{"x", 1}}, diags));
  Evaluator evaluator(10'000);
  const std::vector<std::int64_t> given = {2};
  Value value;
  int done = 0;
  while (done < 10'000 && evaluator.evaluate(condition, given, &value)) ++done;
  // An evaluation takes more than 64 steps.
  EXPECT_GT(done, 10);
  EXPECT_LT(done, 157);
  EXPECT_EQ(evaluator.fault().kind, FaultKind::kTooManyStepsInAll);
  EXPECT_THAT(words_of(evaluator.fault().kind), HasSubstr("for all points"));
}

TEST(Hostile, ConditionsThatAreNeverTrueAreErrors) {
  EXPECT_THAT(first_line("domain d = x in loops x < 9 where x > x + 1;"),
              HasSubstr("the launch domain `d` has no points [empty-domain]"));
  EXPECT_EQ(first_line("domain d = x in loops x < 0 where x > x + 1;"), "0 points");
}

TEST(Hostile, NumbersThatDoNotFitAreNotCalledProducts) {
  EXPECT_THAT(first_line("domain d = x in loops x < 9223372036854775807;"),
              HasSubstr("`d` is too large: its points cannot be counted in 63 bits [domain-size]"));
  EXPECT_THAT(first_line("domain d = (x * 4611686018427387904) in loops x < 3;"),
              HasSubstr("`d` is too large: its coordinates do not fit 63 bits [domain-size]"));
}

TEST(Hostile, BytesThatAreNoTextAreNamed) {
  EXPECT_THAT(first_line(std::string("domain d\0 = x in loops x < 3;", 29)),
              HasSubstr("unexpected character `\\u0000` [unexpected-character]"));
  EXPECT_THAT(first_line("domain d\xff = x in loops x < 3;"),
              HasSubstr("unexpected character `\\xff` [unexpected-character]"));
}

TEST(Hostile, ParametersHaveDifferentNames) {
  EXPECT_THAT(first_line("domain d(n = 1, n = 2) = x in loops x < n;"),
              HasSubstr("`n` is defined twice [duplicate-name]"));
}

TEST(Hostile, DigitsOfUnusualBases) {
  EXPECT_THAT(first_line("domain d = x in digits base 1 levels 3 where 1;"),
              HasSubstr("the base 1 is below 2"));
  EXPECT_THAT(first_line("domain d = (x, y) in digits base 1000000 levels 3 of (0, 0);"),
              HasSubstr("more than 2^20 cells"));
  EXPECT_THAT(first_line("domain d = x in digits base 2 levels 9223372036854775807 of 1;"),
              HasSubstr("at most 62 levels do [domain-size]"));
  EXPECT_EQ(first_line("domain d = x in digits base 1000000 levels 1 where x % 1000 == 7;"),
            "1000 points");
}

}  // namespace
}  // namespace groma::domains
