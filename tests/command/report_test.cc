// `groma report` as a user runs it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "command/run.h"

namespace groma {
namespace {

using nlohmann::json;
using test::Outcome;
using test::read_text;
using test::run;
using test::TemporaryFolder;
using ::testing::HasSubstr;

TEST(Report, WritesAPageAboutASearch) {
  const TemporaryFolder folder;
  const std::string found = folder.path() + "/found";
  ASSERT_EQ(run("groma tune --app cannon:size=small --evaluations 12 --out " + found).exit_code, 0);
  const Outcome outcome = run("groma report " + found);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "wrote `" + found + "/report.html`\n");
  EXPECT_EQ(outcome.err, "");
  const std::string page = read_text(found + "/report.html");
  EXPECT_THAT(page, HasSubstr("What it decides"));
  EXPECT_THAT(page, HasSubstr("What its run says"));
  EXPECT_THAT(page, HasSubstr("its budget of 12 evaluations was used up"));
  // It is replaced, the search goes on beside it, and the same page can go elsewhere.
  EXPECT_EQ(run("groma report " + found).exit_code, 0);
  EXPECT_EQ(run("groma report --output - " + found).out, page);
  EXPECT_EQ(run("groma tune --evaluations 14 --resume " + found).exit_code, 0);
  const Outcome summary = run("groma report --json --output " + folder.path() + "/p " + found);
  EXPECT_EQ(summary.exit_code, 0) << summary.err;
  const json read = json::parse(summary.out);
  EXPECT_EQ(read.at("page"), folder.path() + "/p");
  EXPECT_EQ(read.at("spent").at("evaluations"), 14);
  EXPECT_TRUE(read.at("simulated").get<bool>());
  EXPECT_EQ(read.at("state"), "ended");
}

TEST(Report, SaysWhatIsWrongAndWhatToDo) {
  const TemporaryFolder folder;
  const Outcome none = run("groma report " + folder.path() + "/none");
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_THAT(none.err, HasSubstr("there is no directory"));
  EXPECT_THAT(none.err, HasSubstr("help: name the directory of a search"));
  EXPECT_EQ(run("groma report " + folder.path()).exit_code, 1);
  const std::string found = folder.path() + "/found";
  ASSERT_EQ(run("groma tune --app cannon:size=small --evaluations 2 --out " + found).exit_code, 0);
  folder.write("found/report.html", "mine");
  const Outcome mine = run("groma report " + found);
  EXPECT_EQ(mine.exit_code, 1);
  EXPECT_THAT(mine.err, HasSubstr("help: name another file: --output FILE"));
  EXPECT_EQ(read_text(found + "/report.html"), "mine");
  EXPECT_EQ(run("groma report --json --output - " + found).exit_code, 2);
  EXPECT_EQ(run("groma report").exit_code, 2);
  EXPECT_EQ(run("groma report ''").exit_code, 2);
  // A damaged journal is shown as far as it can be read.
  std::string journal = read_text(found + "/journal.jsonl");
  journal.insert(journal.find('\n') + 1, "damaged\n");
  folder.write("found/journal.jsonl", journal);
  const Outcome damaged = run("groma report --output - " + found);
  EXPECT_EQ(damaged.exit_code, 0);
  EXPECT_THAT(damaged.err, HasSubstr("note: `" + found + "/journal.jsonl` is damaged: 1 line"));
}

// A directory of a stranger may name a file that was changed, or that never ends.
TEST(Report, ReadsNoInputThatIsNotTheSearchs) {
  const TemporaryFolder folder;
  const std::string found = folder.path() + "/found";
  ASSERT_EQ(run("groma tune --app cannon:size=small --evaluations 2 --out " + found).exit_code, 0);
  std::string journal = read_text(found + "/journal.jsonl");
  const std::string app = "\\napp cannon:size=small\\n";
  const std::size_t at = journal.find(app);
  ASSERT_NE(at, journal.npos);
  folder.write("found/journal.jsonl",
               std::string(journal).replace(at, app.size(), "\\napp /dev/zero\\n"));
  EXPECT_THAT(run("groma report --output - " + found).out, HasSubstr("cannot be read"));
  folder.write("found/journal.jsonl",
               std::string(journal).replace(at, app.size(), "\\napp cannon:size=large\\n"));
  EXPECT_THAT(run("groma report --output - " + found).out,
              HasSubstr("has changed since the search began"));
}

}  // namespace
}  // namespace groma
