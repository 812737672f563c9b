// The rules that come with Groma, each by its example; a user's own; and what finds them: literals
// that are derived from patterns, the literal finder beside a plain search.
#include "guide/rules.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <regex>
#include <set>

#include "groma/diagnostics.h"
#include "groma/guide.h"
#include "guide/literals.h"
#include "guide/words.h"
#include "support/files.h"
#include "support/guide_rules.h"

namespace groma::guide {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> found_in(const GuideRules& rules, const std::string& log) {
  std::vector<std::string> ids;
  for (const GuideMatch& match : guide_log(rules, log).matches) ids.push_back(match.rule);
  return ids;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

// No match is shown of it.
bool stays_out(const guide::Rule& rule) {
  return rule.role == guide::RuleRole::kHarmless || rule.role == guide::RuleRole::kSuccess;
}

TEST(Rules, EachMatchesItsExampleAndNoneBeforeItDoes) {
  const std::vector<Rule>& rules = test::rules().set().rules;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    if (rules[i].role == RuleRole::kSilent) continue;
    ASSERT_FALSE(rules[i].example.empty()) << rules[i].id;
    for (std::size_t before = 0; before <= i; ++before) {
      if (rules[before].regex == nullptr) continue;
      EXPECT_EQ(RE2::PartialMatch(rules[i].example, *rules[before].regex), before == i)
          << rules[before].id << " and the example of " << rules[i].id;
    }
  }
}

// As logs have them: colours, NUL bytes, forgotten and doubled spaces, other line ends.
TEST(Rules, FindTheirExamplesHoweverTheyAreMangled) {
  for (const Rule& rule : test::rules().set().rules) {
    if (rule.role == RuleRole::kSilent) continue;
    const std::vector<std::string> expected =
        stays_out(rule) ? std::vector<std::string>{} : std::vector{rule.id};
    const std::string& line = rule.example;
    for (const std::string& log :
         {line, "before\n" + line + "\nafter\n", line + "\r\n", replaced(line, " ", "  "),
          replaced(line, " ", std::string(" \0", 2)),
          replaced(line, " ", " \x1b[1;32m") + "\x1b[0m", replaced(line, "e", "e\x1b[0m")}) {
      EXPECT_EQ(found_in(test::rules(), log), expected) << rule.id << ": " << log;
    }
  }
}

TEST(Rules, LegionsForgottenSpacesDoNotHideItsMessages) {
  for (const Rule& rule : test::rules().set().rules) {
    if (rule.id.find("dsl.") == 0 || rule.id.find("lib.") == 0 || rule.role == RuleRole::kSilent ||
        stays_out(rule) || rule.hook == "compile") {
      continue;
    }
    EXPECT_EQ(found_in(test::rules(), replaced(rule.example, " ", "")), std::vector{rule.id});
  }
}

TEST(Rules, SayWhatTheyMeanAndFillTheirTexts) {
  for (const Rule& rule : test::rules().set().rules) {
    if (stays_out(rule)) continue;
    const bool speaks = rule.role != guide::RuleRole::kMetric;
    EXPECT_FALSE(speaks && rule.meaning.empty() && rule.advice.empty()) << rule.id;
    CapturedGroups groups = captured_groups(rule, rule.example);
    groups["exit"] = "134";
    groups["checks"] = "-lg:safe_mapper";
    std::string said = fill_template(rule.meaning, groups);
    for (const guide::Advice& advice : rule.advice)
      said += " " + fill_template(advice.text, groups);
    EXPECT_EQ(said.find('?'), std::string::npos) << rule.id << ": " << said;
  }
}

// The messages of Legion and Realm that are known, by the names that these have in the catalogue
// they were collected in. All have a rule; one without would stand here with the reason.
TEST(Rules, CoverLegionsMessages) {
  std::istringstream names(testing::read_text(testing::in_tree("tests/data/legion_messages.txt")));
  int count = 0;
  for (std::string name; std::getline(names, name); ++count) {
    EXPECT_NE(test::rules().set().find(name), nullptr) << name;
  }
  EXPECT_EQ(count, 254);
}

TEST(Rules, CoverOurOwnDiagnostics) {
  for (const CatalogueEntry& entry : catalogue()) {
    if (entry.severity != Severity::kError) continue;
    const std::string id(entry.name);
    Diagnostic diagnostic;
    diagnostic.id = entry.id;
    const Rule* rule = test::rules().set().find_rule_for_diagnostic(diagnostic);
    const std::string expected = rule != nullptr ? rule->id : "groma.diagnostic";
    EXPECT_THAT(found_in(test::rules(), "a.mapper:1:2: error: something [" + id + "]\n"),
                ElementsAre(expected));
  }
}

// As a log and as what the check found.
TEST(Rules, SpeakOfOneMessageOfADiagnosticWhereItIsAnotherCase) {
  const struct {
    std::int64_t index, size;
    const char* rule;
    const char* advice;
  } kCases[] = {{7, 4, "groma.slice-index-out-of-bound", "`% m.size[0]`"},
                {-1, 4, "groma.negative-index", "`(i % n + n) % n`"},
                {0, 0, "groma.no-such-processors", "of a kind that the machine has"}};
  const auto rules = GuideRules::make();
  ASSERT_TRUE(rules);
  for (const auto& [index, size, rule, advice] : kCases) {
    Diagnostics diags(Source("a.mapper", "x"));
    diags.report(DiagId::kSliceIndexOutOfBound, Range{0, 1}, std::int64_t{0}, index, size);
    GuideContext context;
    context.diags = &diags;
    for (const GuideFeedback& feedback :
         {guide_log(*rules, "", context), guide_log(*rules, render(diags)),
          guide_log(*rules, fmt::format(R"({{"id": "{}", "severity": "error", "message": "{}"}})",
                                        name_of(DiagId::kSliceIndexOutOfBound),
                                        diags.all().front().message))}) {
      ASSERT_FALSE(feedback.matches.empty());
      EXPECT_EQ(feedback.matches[0].rule, rule);
      EXPECT_THAT(feedback.suggest, ::testing::Contains(HasSubstr(advice)));
    }
  }
  Diagnostics zero(Source("a.mapper", "x"));
  zero.report(DiagId::kDivisionByZero, Range{0, 1}, std::int64_t{4}, "/");
  const GuideFeedback feedback = guide_log(*rules, render(zero));
  EXPECT_THAT(feedback.suggest, ::testing::Contains(HasSubstr("lacks the kind")));
}

// The rule follows from the causes of the diagnostic, whatever words its message has.
TEST(Rules, SpeakOfACauseWithoutReadingTheMessage) {
  const std::pair<DiagCause, const char*> kCases[] = {
      {DiagCause::kMemoryAbsent, "groma.no-memory.none"},
      {DiagCause::kVirtualFirst, "groma.no-memory.virtual"},
      {DiagCause::kGpuCannotAddress, "groma.no-memory.gpu"}};
  for (const auto& [cause, rule] : kCases) {
    Diagnostics diags(Source("a.mapper", "x"));
    diags.report(DiagId::kNoMemory, std::nullopt, std::int64_t{0}, "work", "words")
        .causes.push_back(cause);
    GuideContext context;
    context.diags = &diags;
    const GuideFeedback feedback = guide_log(test::rules(), "", context);
    ASSERT_FALSE(feedback.matches.empty());
    EXPECT_EQ(feedback.matches[0].rule, rule);
    EXPECT_EQ(feedback.matches[0].from, GuideMatch::MatchSource::kGroma);
  }
  Diagnostics none(Source("a.mapper", "x"));
  none.report(DiagId::kNoMemory, std::nullopt, std::int64_t{0}, "work", "node 0 has none");
  EXPECT_EQ(test::rules().set().find_rule_for_diagnostic(none.all().front())->id,
            "groma.no-memory");
  for (const Rule& rule : test::rules().set().rules) {
    EXPECT_EQ(rule.required_message_text.empty(), !rule.cause) << rule.id;
  }
}

TEST(Rules, JoinAdviceThatIsSaid) {
  const Source own("own.json", R"({"rules": [
    {"id": "mine", "pattern": "disk of sectors",
     "advice": [{"checks": true, "text": "run with {checks}"},
                {"joined": true, "else": true, "text": "write less"},
                {"to_gpu": true, "text": "use GPUs"},
                {"else": true, "text": "write nothing"}],
     "example": "disk of sectors"}]})");
  const auto rules = GuideRules::make({&own, 1});
  ASSERT_TRUE(rules) << rules.error().message;
  GuideContext context;
  context.checks = "--check";
  EXPECT_THAT(
      guide_log(*rules, "disk of sectors", context).suggest,
      ElementsAre("Run with --check; else write less.", "Use GPUs.", "Else write nothing."));
  context.checks = "";
  context.lacking = {"GPU"};
  EXPECT_THAT(guide_log(*rules, "disk of sectors", context).suggest,
              ElementsAre("Write less.", "Else write nothing."));
}

TEST(Rules, OnesOwnComeFirst) {
  const Source own("own.json", R"({"rules": [
    {"id": "mine", "pattern": "Slice processor index <number> out", "meaning": "number {value}",
     "advice": ["a", ["b", "c"]], "example": "Slice processor index 3 out of bound"}]})");
  const auto rules = GuideRules::make({&own, 1});
  ASSERT_TRUE(rules) << rules.error().message;
  const GuideFeedback feedback = guide_log(*rules, "Slice processor index 3 out of bound");
  EXPECT_THAT(feedback.explain, ElementsAre("Number 3."));
  EXPECT_THAT(feedback.suggest, ElementsAre("A.", "Bc."));
}

TEST(Rules, RefuseWhatTheyCannotUse) {
  const struct {
    const char* rule;
    const char* why;
  } kWrong[] = {
      {R"({"pattern": "long enough"})", "no `id`"},
      {R"({"id": "x"})", "rule `x`: it has no `pattern`"},
      {R"({"id": "x", "pattern": "a.*b"})", "name it as `literal`"},
      {R"({"id": "x", "pattern": "unclosed ("})", "missing )"},
      {R"({"id": "x", "pattern": "fine pattern", "role": "loud"})", "`role` cannot be `loud`"},
      {R"({"id": "x", "pattern": "fine pattern", "patern": ""})", "no key `patern`"},
      {R"({"id": "x", "pattern": 3})", "`pattern` is not a text"},
      {R"({"id": "x", "pattern": "fine pattern", "advice": {"txt": "a"}})", "no key `txt`"},
      {R"({"id": "x", "pattern": "fine pattern", "advice": {"text": "a", "else": 1}})",
       "`else` is not a bool"},
      {R"({"id": "x", "pattern": "fine pattern", "cause": "words"})", "`cause` cannot be `words`"},
      {R"({"id": "x", "pattern": "fine pattern", "meaning": "m", "shortage": true,
           "example": "fine pattern"})",
       "needs the groups `task` and `req`"},
      {R"({"id": "x", "pattern": "fine pattern", "exit": ["a"]})", "not a list of integers"},
      {R"({"id": "x", "pattern": "fine pattern", "role": "metric"})", "a group `value`"},
      {R"({"id": "x", "pattern": "fine pattern", "meaning": "m"}, {"id": "x", "pattern": "fine"})",
       "twice"},
      {R"({"id": "x", "pattern": "fine pattern"})", "neither `meaning` nor `advice`"},
      {R"({"id": "x", "pattern": "fine <task>", "meaning": "{tsak|none}"})",
       "`{tsak}`: its pattern"},
      {R"({"id": "x", "pattern": "fine <task>", "meaning": "{flag|none}"})",
       "`{flag}`: its pattern"},
      {R"({"id": "x", "pattern": "fine pattern", "meaning": "m", "example": "another"})",
       "does not match its `example`"},
      {"3", "a rule is not an object"},
  };
  for (const auto& [rule, why] : kWrong) {
    const Source own("own.json", std::string(R"({"rules": [)") + rule + "]}");
    const auto rules = GuideRules::make({&own, 1});
    ASSERT_FALSE(rules) << rule;
    EXPECT_THAT(rules.error().message, HasSubstr(why));
  }
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  for (const std::string& text :
       {std::string(), std::string("[]"), std::string("{"), std::string(R"({"rules": 3})"),
        R"({"a": )" + deep + R"(, "rules": []})"}) {
    const Source own("own.json", text);
    EXPECT_FALSE(GuideRules::make({&own, 1})) << text;
  }
}

TEST(Literals, AreWhatEveryMatchHolds) {
  EXPECT_THAT(required_literals("Failed to open (?P<file>.*?) for writing"),
              ElementsAre("failedtoopen"));
  EXPECT_THAT(required_literals("abc(?:def|gh)? long one"), ElementsAre("longone"));
  EXPECT_THAT(required_literals("(?:first|second) x"), ElementsAre("first", "second"));
  EXPECT_THAT(required_literals("(?:first|sec.*) x"), ElementsAre("first", "sec"));
  EXPECT_THAT(required_literals("ab*cde+f"), ElementsAre("cde"));
  EXPECT_THAT(required_literals("a{0,3}bc{2}d"), ElementsAre("bc"));
  EXPECT_THAT(required_literals(R"(\d+ \(from \[x\]\))"), ElementsAre("(from[x])"));
  EXPECT_THAT(required_literals("[abc]]d"), ElementsAre("]d"));
  EXPECT_THAT(required_literals("x|.*"), IsEmpty());
  EXPECT_THAT(required_literals("(?i)Upper"), ElementsAre("upper"));
  EXPECT_THAT(required_literals(R"(a\x{41}bc)"), ElementsAre("bc"));
  EXPECT_THAT(required_literals("unbalanced)"), IsEmpty());
  // If groups are nested too deep, the pattern has no certain literals, not even those of the
  // alternatives without such groups.
  const std::string deep = std::string(40, '(') + "q" + std::string(40, ')');
  EXPECT_THAT(required_literals("(?:abcdef" + deep + "|xyz)"), IsEmpty());
}

// Texts over few letters, so that literals overlap; lines, spaces and letters of both cases too.
TEST(LiteralFinder, FindsWhatAPlainSearchFinds) {
  std::mt19937 draw(7);
  const auto text_of = [&](std::size_t size, std::string_view letters) {
    std::string text;
    while (text.size() < size) text += letters[draw() % letters.size()];
    return text;
  };
  for (int round = 0; round < 200; ++round) {
    std::vector<std::pair<std::string, std::uint32_t>> literals;
    for (std::uint32_t i = 0; i < 1 + draw() % 12; ++i) {
      literals.emplace_back(text_of(1 + draw() % 5, "abc"), i);
    }
    LiteralFinder literal_finder;
    ASSERT_TRUE(literal_finder.build(literals));
    const std::string text = text_of(draw() % 400, "aAbBc  \n");
    std::set<std::pair<std::size_t, std::uint32_t>> expected;
    for (const auto& [literal, rule] : literals) {
      for (std::size_t begin = 0; begin < text.size(); ++begin) {
        std::size_t matched = 0;
        for (std::size_t i = begin; i < text.size() && text[i] != '\n'; ++i) {
          if (text[i] == ' ') continue;
          if (std::tolower(text[i]) != literal[matched]) break;
          if (++matched == literal.size()) {
            if (text[begin] != ' ') expected.emplace(i + 1, rule);
            break;
          }
        }
      }
    }
    // A literal is also found at the spaces after it, which change nothing.
    std::vector<LiteralFinder::LiteralMatch> hits;
    literal_finder.scan(text, &hits);
    std::set<std::pair<std::size_t, std::uint32_t>> found;
    for (const LiteralFinder::LiteralMatch& hit : hits) {
      if (text[hit.end - 1] == ' ') continue;
      for (const std::uint32_t rule : literal_finder.rules_needing_literal(hit))
        found.emplace(hit.end, rule);
    }
    ASSERT_EQ(found, expected) << text;
  }
}

}  // namespace
}  // namespace groma::guide
