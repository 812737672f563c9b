#include "legion_run/checked.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "groma/diagnostics.h"
#include "groma/system.h"

namespace groma::inspect {
namespace {

class CheckedTest : public ::testing::Test {
 protected:
  CheckedTest() : folder_(ScratchFolder::make().value()) {
    run_.words = {"true", "a"};
    run_.checked_file = folder_.path() + "/checked";
  }

  static Program program(const std::string& text) {
    Diagnostics diags(Source("a.mapper", text));
    return compile(diags.source(), diags);
  }
  SuccessfulRuns on(std::int64_t day) const { return {mapping_, run_, true, day}; }

  ScratchFolder folder_;
  ProgramRun run_;
  Program mapping_ = program("Task * CPU;\n");
};

TEST_F(CheckedTest, ForgetsAfterAWeek) {
  EXPECT_FALSE(on(100).has_recent_success());
  on(100).add_success();
  EXPECT_TRUE(on(100).has_recent_success());
  EXPECT_TRUE(on(106).has_recent_success());
  EXPECT_FALSE(on(107).has_recent_success());
  EXPECT_FALSE(on(99).has_recent_success());  // the clock was wrong
  on(107).add_success();
  EXPECT_TRUE(on(113).has_recent_success());
  EXPECT_FALSE(on(100).has_recent_success());  // one line for each
}

TEST_F(CheckedTest, TellsProgramsApart) {
  on(100).add_success();
  run_.words.back() = "b";
  EXPECT_FALSE(on(100).has_recent_success());
  run_.words.back() = "a";
  setenv("LEGION_DEFAULT_ARGS", "-ll:cpu 2", 1);
  EXPECT_FALSE(on(100).has_recent_success());
  unsetenv("LEGION_DEFAULT_ARGS");
  EXPECT_TRUE(on(100).has_recent_success());
  run_.override_layouts.tasks = {"work"};
  EXPECT_FALSE(on(100).has_recent_success());
  run_.override_layouts.tasks.clear();
  mapping_ = program("Task * GPU;\n");
  EXPECT_FALSE(on(100).has_recent_success());
}

// A program may read any variable.
TEST_F(CheckedTest, VariablesCount) {
  on(100).add_success();
  for (const char* name : {"PAIRS", "XDG_CONFIG_HOME", "LC_ALL", "SSHX", "GROMA_API_KEYS"}) {
    SCOPED_TRACE(name);
    ASSERT_EQ(std::getenv(name), nullptr);
    setenv(name, "1", 1);
    EXPECT_FALSE(on(100).has_recent_success());
    unsetenv(name);
    EXPECT_TRUE(on(100).has_recent_success());
  }
}

TEST_F(CheckedTest, VariablesOfTheTerminalDoNotCount) {
  const auto docs = read_file(GROMA_SOURCE_DIR "/docs/legion.md", 1 << 20);
  ASSERT_TRUE(docs);
  on(100).add_success();
  for (const std::string_view pattern : ignored_variables()) {
    SCOPED_TRACE(pattern);
    EXPECT_NE(docs->find(fmt::format("`{}`", pattern)), docs->npos) << "not in docs/legion.md";
    std::string name(pattern);
    if (name.back() == '*') name.back() = 'X';
    const char* const value = std::getenv(name.c_str());
    const std::optional<std::string> before =
        value ? std::optional<std::string>(value) : std::nullopt;
    setenv(name.c_str(), "another", 1);
    EXPECT_TRUE(on(100).has_recent_success());
    before ? setenv(name.c_str(), before->c_str(), 1) : unsetenv(name.c_str());
  }
}

TEST_F(CheckedTest, FilesAmongTheWordsCount) {
  const std::string file = folder_.path() + "/input";
  for (const std::string& word : {file, "--input=" + file}) {
    SCOPED_TRACE(word);
    ASSERT_FALSE(write_file(file, "one\n"));
    run_.words.back() = word;
    EXPECT_FALSE(on(100).has_recent_success());
    on(100).add_success();
    EXPECT_TRUE(on(100).has_recent_success());
    ASSERT_FALSE(write_file(file, "another\n"));
    EXPECT_FALSE(on(100).has_recent_success());
  }
}

TEST_F(CheckedTest, TellsWhatWasComparedApart) {
  auto one = Results::make({.same = {"a b"}}), two = Results::make({.same = {"a", "b"}});
  run_.results = &*one;
  on(100).add_success();
  EXPECT_TRUE(on(100).has_recent_success());
  run_.results = &*two;
  EXPECT_FALSE(on(100).has_recent_success());
}

// Nothing that was remembered before entries had a day counts.
TEST_F(CheckedTest, TakesAnyFile) {
  ASSERT_FALSE(write_file(run_.checked_file, "\n\nabc\n99999999999999999999 x\n1\n7"));
  EXPECT_FALSE(on(100).has_recent_success());
  on(100).add_success();
  EXPECT_TRUE(on(100).has_recent_success());
}

}  // namespace
}  // namespace groma::inspect
