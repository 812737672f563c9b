// What the report of a search reads: real searches, and directories of strangers.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "groma/search_report.h"
#include "groma/system.h"
#include "unit/search_report/searches.h"

namespace groma {
namespace {

using test::first_line;
using test::forged_search;
using test::step_line;
using test::TemporaryFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using tuning::read_search_report;
using State = tuning::SearchReport::State;

TEST(SearchReport, HasWhatASearchFound) {
  const TemporaryFolder folder;
  const std::string directory = folder.path() + "/found";
  test::search(folder, directory, "anneal", 30);
  auto report = read_search_report(directory);
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_EQ(report->state, State::kEnded);
  EXPECT_EQ(report->proposer, "anneal");
  EXPECT_TRUE(report->simulated());
  EXPECT_TRUE(report->is_mapping());
  EXPECT_EQ(report->spent.evaluations, 30);
  EXPECT_EQ(report->steps.size(), report->results.size());
  EXPECT_GE(report->results.size(), 30U);
  ASSERT_TRUE(report->start && report->best);
  EXPECT_EQ(*report->start, 0U);
  ASSERT_TRUE(report->gain());
  EXPECT_GT(*report->gain(), 1);
  EXPECT_THAT(report->closing_words, HasSubstr("start"));
  EXPECT_THAT(report->notes, IsEmpty());
  ASSERT_TRUE(report->best_text);
  for (const tuning::ReportedStep& step : report->steps) {
    EXPECT_EQ(step.best_before.has_value(), step.step.number > 1);
  }

  const tuning::SearchProblem problem = test::cannon_problem();
  explain_best(*problem.machine, problem.inputs.front(), {}, &*report);
  ASSERT_TRUE(report->explained) << report->why_not_explained;
  EXPECT_THAT(report->explained->all_decisions, HasSubstr("decided by best.mapper"));
  ASSERT_FALSE(report->explained->tasks.empty());
  ASSERT_TRUE(report->explained->feedback);
  EXPECT_FALSE(report->explained->feedback->explain.empty());

  const auto json = nlohmann::json::parse(to_json(*report, "found/report.html"));
  EXPECT_EQ(json.at("state"), "ended");
  EXPECT_EQ(json.at("page"), "found/report.html");
  EXPECT_EQ(json.at("spent").at("evaluations"), 30);
  EXPECT_EQ(json.at("best").at("status"), "ok");
  EXPECT_EQ(json.at("gain"), *report->gain());
}

TEST(SearchReport, HasTheQuestionsToTheModel) {
  const TemporaryFolder folder;
  const std::string directory = folder.path() + "/found";
  test::search(folder, directory, "trace", 4);
  const auto report = read_search_report(directory);
  ASSERT_TRUE(report.ok()) << report.error().message;
  ASSERT_GE(report->steps.size(), 2U);
  EXPECT_THAT(report->steps[0].exchanges, IsEmpty());
  ASSERT_FALSE(report->steps[1].exchanges.empty());
  const tuning::ReportedExchange& exchange = report->steps[1].exchanges.front();
  EXPECT_FALSE(exchange.failed);
  EXPECT_THAT(exchange.reply, HasSubstr("PLAN: number"));
  ASSERT_FALSE(exchange.prompt.empty());
  EXPECT_THAT(exchange.prompt.back(), HasSubstr("cannon"));
  EXPECT_GT(report->spent.model_calls, 0);
  EXPECT_TRUE(report->spent.estimated);
}

TEST(SearchReport, HasTheParentsOfSteps) {
  const TemporaryFolder folder;
  // Step 3 is damaged, so a parent of step 4 and of step 6 is not known.
  const std::string directory = forged_search(
      folder, first_line() + step_line(1, 9, "a") + step_line(2, 8, "b", "", {1}) +
                  step_line(3, 7, "c", "", {3}) + step_line(4, 6, "d", "", {3}) +
                  step_line(5, 5, "e", "", {2, 1}) + step_line(6, 7, "f", "", {3, 5}));
  const auto report = read_search_report(directory);
  ASSERT_TRUE(report.ok());
  ASSERT_EQ(report->results.size(), 5U);
  EXPECT_EQ(report->steps_with_parents, 4U);
  EXPECT_THAT(report->results[1].parents, ElementsAre(0U));
  EXPECT_THAT(report->results[2].parents, IsEmpty());
  EXPECT_THAT(report->results[3].parents, ElementsAre(1U, 0U));
  EXPECT_THAT(report->results[4].parents, ElementsAre(3U));
  EXPECT_THAT(report->line_of_best, ElementsAre(0U, 1U, 3U));
  EXPECT_THAT(report->notes, ElementsAre(HasSubstr("the first of them is line 4")));
  EXPECT_EQ(nlohmann::json::parse(to_json(*report, "")).at("lineage"), nlohmann::json::parse(R"({
    "steps_with_parents": 4, "left_out": 0, "line_of_best": [
      {"step": 1, "status": "ok", "value": 9.0, "parents": []},
      {"step": 2, "status": "ok", "value": 8.0, "parents": [1]},
      {"step": 5, "status": "ok", "value": 5.0, "parents": [2, 1]}]})"));
  const auto without = read_search_report(
      forged_search(folder, first_line() + step_line(1, 2, "a") + step_line(2, 1, "b")));
  EXPECT_THAT(without->line_of_best, IsEmpty());
  EXPECT_TRUE(nlohmann::json::parse(to_json(*without, "")).at("lineage").is_null());
}

TEST(SearchReport, ShowsTheAncestorsOfTheBest) {
  const TemporaryFolder folder;
  std::string lines = first_line() + step_line(1, 9, "a");
  // Steps 20, 40, 60, 80 and 90 descend from each other; only the last one is an improvement.
  for (int i = 2; i <= 100; ++i) {
    const int parent = i == 90 ? 80 : i > 20 && i <= 80 && i % 20 == 0 ? i - 20 : 1;
    lines += step_line(i, i == 90 ? 1 : 10 + i, "b", "", {parent});
  }
  tuning::SearchReportOptions options;
  options.max_steps = 12;
  const auto report = read_search_report(forged_search(folder, lines), options);
  ASSERT_TRUE(report.ok());
  std::vector<std::int64_t> shown;
  for (const tuning::ReportedStep& step : report->steps) shown.push_back(step.step.number);
  EXPECT_THAT(shown, ElementsAre(1, 60, 80, 90, 93, 94, 95, 96, 97, 98, 99, 100));
  EXPECT_THAT(report->line_of_best, ElementsAre(0U, 19U, 39U, 59U, 79U, 89U));
}

TEST(SearchReport, OfARunningSearch) {
  const TemporaryFolder folder;
  const std::string half = step_line(3, 0.5, "c");
  const std::string directory =
      forged_search(folder, first_line() + step_line(1, 2, "a") + step_line(2, 1, "b") +
                                half.substr(0, half.size() / 2));
  EXPECT_EQ(read_search_report(directory)->state, State::kInterrupted);
  const auto lock = FileLock::take(directory + "/lock");
  ASSERT_TRUE(lock.ok());
  const auto report = read_search_report(directory);
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->state, State::kRunning);
  EXPECT_EQ(report->results.size(), 2U);
  EXPECT_DOUBLE_EQ(report->gain().value_or(0), 2);
  EXPECT_THAT(report->notes, IsEmpty());
  // The report has left the lock as it was.
  EXPECT_FALSE(FileLock::take(directory + "/lock").ok());
}

TEST(SearchReport, ContinuesBehindDamage) {
  const TemporaryFolder folder;
  const std::string directory = forged_search(
      folder, first_line() + step_line(1, 2, "a") + "no JSON\n" +
                  "{\"step\":{\"number\":\"two\"}}\n" + "{\"later\":{\"unknown\":1}}\n" +
                  step_line(3, 0, "c") + step_line(4, 1, "d"));
  const auto report = read_search_report(directory);
  ASSERT_TRUE(report.ok());
  ASSERT_EQ(report->results.size(), 3U);
  EXPECT_EQ(report->results[1].status, tuning::Evaluation::Status::kFailed);
  EXPECT_EQ(report->steps[2].step.number, 4);
  EXPECT_THAT(report->notes, ElementsAre(HasSubstr("2 lines cannot be read, the first of them is "
                                                   "line 3")));
}

TEST(SearchReport, LimitsWhatItReadsAndSaysSo) {
  const TemporaryFolder folder;
  std::string lines = first_line();
  for (int i = 1; i <= 100; ++i) {
    lines += step_line(i, i == 50 ? 0.5 : 1 + i, std::string(3000, 'x'));
  }
  const std::string directory = forged_search(folder, lines);
  tuning::SearchReportOptions options;
  options.max_steps = 9;
  options.max_text_bytes = 9000;
  auto report = read_search_report(directory, options);
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->results.size(), 100U);
  EXPECT_EQ(report->steps.size(), 9U);
  EXPECT_EQ(report->steps.front().step.number, 1);
  EXPECT_EQ(report->steps[1].step.number, 50);
  EXPECT_EQ(report->steps.back().step.number, 100);
  EXPECT_EQ(report->steps.back().step.proposal.text.size(), 1024U);
  EXPECT_EQ(report->steps.back().left_out_bytes, 3000U - 1024U);
  EXPECT_EQ(report->best_text, std::string(3000, 'x'));
  EXPECT_THAT(report->notes, ElementsAre(HasSubstr("Of 100 steps 9 are shown"),
                                         HasSubstr("texts are too long for this page")));

  options.max_results = 10;
  report = read_search_report(directory, options);
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->results.size(), 10U);
  EXPECT_THAT(report->notes, ::testing::Contains(HasSubstr("is too long for this page")));
  options.max_journal_bytes = 5000;
  EXPECT_LT(read_search_report(directory, options)->results.size(), 3U);
  options.stop = [] { return true; };
  EXPECT_EQ(read_search_report(directory, options).error().code, Error::Code::kStopped);
}

TEST(SearchReport, RefusesWhatIsNoSearch) {
  const TemporaryFolder folder;
  EXPECT_THAT(read_search_report(folder.path() + "/none").error().message,
              HasSubstr("there is no directory"));
  EXPECT_THAT(read_search_report(folder.path()).error().message,
              HasSubstr("there is no search in"));
  EXPECT_THAT(read_search_report(folder.write("file", "x")).error().message,
              HasSubstr("is a file, not a directory"));
  const std::string directory = forged_search(folder, first_line() + step_line(1, 2, "a"));
  std::filesystem::create_symlink("/etc/hostname", directory + "/best.mapper");
  EXPECT_FALSE(read_search_report(directory).ok());
}

TEST(SearchReport, ReadsNoPipe) {
  const TemporaryFolder folder;
  const std::string directory = forged_search(folder, first_line() + step_line(1, 2, "a"));
  ASSERT_EQ(mkfifo((directory + "/best.mapper").c_str(), 0600), 0);
  ASSERT_EQ(mkfifo((directory + "/lock").c_str(), 0600), 0);
  const auto report = read_search_report(directory);
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_EQ(report->best_text, "a");
}

TEST(SearchReport, ReplacesOnlyItsOwnPage) {
  const TemporaryFolder folder;
  const std::string directory = forged_search(folder, first_line() + step_line(1, 2, "a"));
  const std::string page = to_html(*read_search_report(directory));
  EXPECT_TRUE(tuning::is_search_page(page));
  EXPECT_FALSE(tuning::write_search_page(directory, page));
  EXPECT_FALSE(tuning::write_search_page(directory, page));
  folder.write("forged/report.html", "mine");
  ASSERT_TRUE(tuning::write_search_page(directory, page));
  EXPECT_THAT(tuning::write_search_page(directory, page)->message, HasSubstr("is not a page of"));
  std::filesystem::remove(directory + "/report.html");
  const std::string other = folder.write("other.html", page);
  std::filesystem::create_symlink(other, directory + "/report.html");
  EXPECT_TRUE(tuning::write_search_page(directory, page));
}

}  // namespace
}  // namespace groma
