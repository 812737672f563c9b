// groma manual: the pages say what `--help` says, and the tools that read manual pages find nothing
// wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>
#include <set>
#include <sstream>

#include "command/run.h"

namespace groma {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(Manual, HasAPageForEachCommand) {
  const test::TemporaryFolder folder;
  ASSERT_EQ(test::run("groma manual --out '" + folder.path() + "/man1'").exit_code, 0);
  std::set<std::string> pages;
  for (const auto& each : std::filesystem::directory_iterator(folder.path() + "/man1")) {
    pages.insert(each.path().filename().string());
  }
  for (const char* name : {"groma.1", "groma-check.1", "groma-domain-emit.1", "groma-manual.1"}) {
    EXPECT_THAT(pages, Contains(name));
  }
  // One process for all pages, since each of the tools takes some time to start.
  const std::string all = " '" + folder.path() + "'/man1/*.1";
  if (test::is_installed("mandoc")) {
    EXPECT_EQ(test::run("mandoc -T lint" + all).out, "");
  }
  if (test::is_installed("groff")) {
    EXPECT_EQ(test::run("groff -ww -man -T ascii -z" + all).err, "");
  }
  if (!test::is_installed("lexgrog")) return;
  const test::Outcome names = test::run("lexgrog" + all);
  EXPECT_EQ(names.exit_code, 0);
  EXPECT_THAT(names.out, HasSubstr("groma-check - print all diagnostics of mapping programs"));
}

// Compared without spaces, since the two divide lines differently, and without backticks, since a
// page has bold letters instead.
std::string without_spaces(std::string text) {
  std::erase_if(text, [](unsigned char c) { return std::isspace(c) != 0 || c == '`'; });
  return text;
}

TEST(Manual, SaysWhatTheHelpSays) {
  if (!test::is_installed("groff")) GTEST_SKIP() << "there is no groff";
  for (const char* command : {"", "tune", "run", "domain emit", "completion"}) {
    const std::string name = command;
    const std::string page = without_spaces(
        test::run("groma manual " + name + " | GROFF_NO_SGR=1 groff -man -T ascii -P -cbou").out);
    const test::Outcome help = test::run("groma " + name + " --help");
    std::istringstream lines(help.out);
    // The text of options and examples: lines that begin with spaces.
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with("  ") || line.find("REQUIRED") != std::string::npos) continue;
      const std::size_t gap = line.starts_with("  -") ? line.rfind("  ") : 0;
      EXPECT_THAT(page, HasSubstr(without_spaces(line.substr(gap)))) << name;
    }
  }
}

TEST(Manual, BearsTheDateOfTheSources) {
  EXPECT_THAT(test::run("SOURCE_DATE_EPOCH=86400 groma manual check").out,
              HasSubstr(".TH GROMA\\-CHECK 1 1970-01-02 \"groma "));
  // A wrong value is ignored.
  EXPECT_EQ(test::run("SOURCE_DATE_EPOCH=1e9 groma manual check").exit_code, 0);
}

TEST(Manual, RefusesUnknownCommands) {
  const test::Outcome outcome = test::run("groma manual domian");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, StartsWith("groma: `groma` has no command `domian`\n"));
  EXPECT_THAT(outcome.err, HasSubstr("did you mean `domain`?"));
}

}  // namespace
}  // namespace groma
