// The lines that a fix changes.
#include "inspect/changed_lines.h"

#include <gtest/gtest.h>

namespace groma {
namespace {

using Lines = std::vector<std::string>;

TEST(ChangedLines, AreThoseOfTheEdits) {
  const Source source("a.mapper", "one\ntwo\nthree\nfour");
  // Two edits of one line give one change, and an edit further down another.
  const Fix fix{"", {{{4, 5}, "T"}, {{6, 7}, "O"}, {{14, 18}, "4"}}, false};
  const auto changes = changed_lines(source, fix);
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_EQ(changes[0].before, Lines({"two"}));
  EXPECT_EQ(changes[0].after, Lines({"TwO"}));
  EXPECT_EQ(changes[1].before, Lines({"four"}));
  EXPECT_EQ(changes[1].after, Lines({"4"}));
}

TEST(ChangedLines, LeaveOutEqualLines) {
  const Source source("a.mapper", "one\ntwo\n");
  const auto added = changed_lines(source, {"", {{{4, 4}, "new\n"}}, false});
  ASSERT_EQ(added.size(), 1U);
  EXPECT_EQ(added[0].before, Lines());
  EXPECT_EQ(added[0].after, Lines({"new"}));
  const auto removed = changed_lines(source, {"", {{{0, 4}, ""}}, false});
  ASSERT_EQ(removed.size(), 1U);
  EXPECT_EQ(removed[0].before, Lines({"one"}));
  EXPECT_EQ(removed[0].after, Lines());
  EXPECT_TRUE(changed_lines(source, {"", {{{0, 3}, "one"}}, false}).empty());
}

TEST(ChangedLines, HandleTheEndsOfTheText) {
  const auto first = changed_lines(Source("", ""), {"", {{{0, 0}, "Task a GPU;\n"}}, false});
  ASSERT_EQ(first.size(), 1U);
  EXPECT_EQ(first[0].after, Lines({"Task a GPU;"}));
  const auto last = changed_lines(Source("", "one"), {"", {{{3, 3}, "\ntwo"}}, false});
  ASSERT_EQ(last.size(), 1U);
  EXPECT_EQ(last[0].before, Lines());
  EXPECT_EQ(last[0].after, Lines({"two"}));
  EXPECT_TRUE(changed_lines(Source("", "one"), {"", {{{2, 9}, "x"}}, false}).empty());
}

}  // namespace
}  // namespace groma
