#include "groma/spelling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace groma {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Names = std::vector<std::string_view>;

TEST(NearNames, FindsOneEdit) {
  const Names kinds = {"CPU", "GPU", "OMP", "IO"};
  EXPECT_THAT(near_names("GPUS", kinds), ElementsAre("GPU"));
  EXPECT_THAT(near_names("OPM", kinds), ElementsAre("OMP")) << "two letters swapped";
  EXPECT_THAT(near_names("MOP", kinds), ElementsAre("OMP")) << "the first two letters swapped";
  EXPECT_THAT(near_names("PU", kinds), ElementsAre("CPU", "GPU"));
}

TEST(NearNames, CaseCountsLessThanLetters) {
  EXPECT_THAT(near_names("Gpu", Names{"CPU", "GPU"}), ElementsAre("GPU"));
  EXPECT_THAT(near_names("fbmen", Names{"fbmem", "FBMEM"}), ElementsAre("fbmem"));
}

TEST(NearNames, TheNearestComesFirstThenTheOrderGiven) {
  EXPECT_THAT(near_names("block", Names{"clock", "blocks2", "flock", "block1"}),
              ElementsAre("clock", "flock", "block1"));
}

TEST(NearNames, ANamespaceMayBeLeftOut) {
  const Names tasks = {"cupynumeric::UnaryOpTask", "cupynumeric::BinaryOpTask", "legate::Copy"};
  EXPECT_THAT(near_names("BinaryOpTask", tasks),
              ElementsAre("cupynumeric::BinaryOpTask", "cupynumeric::UnaryOpTask"));
  EXPECT_THAT(near_names("copy", tasks), ElementsAre("legate::Copy"));
  EXPECT_THAT(near_names("cupynumeric::BinaryOp", tasks),
              ::testing::Contains("cupynumeric::BinaryOpTask"));
  EXPECT_THAT(near_names("other::Copy", tasks), IsEmpty());
  EXPECT_THAT(near_names("Copy", Names{std::string_view("a::Copy"), "Copy2"}),
              ElementsAre("a::Copy", "Copy2"));
  EXPECT_THAT(near_names("a", Names{"b::"}), IsEmpty());
}

TEST(NearNames, OtherWordsAreFar) {
  EXPECT_THAT(near_names("task", Names{"region", "layout", "t"}), IsEmpty());
  EXPECT_THAT(near_names("", Names{"a"}), IsEmpty());
  EXPECT_THAT(near_names("abc", Names{}), IsEmpty());
}

TEST(NearNames, TheWordItselfIsNoSuggestion) {
  EXPECT_THAT(near_names("size", Names{"size", "sizes"}), ElementsAre("sizes"));
}

TEST(NearNames, GivesEachNameOnceAndNoMoreThanAsked) {
  const Names names = {"aab", "aab", "aac", "aad", "aae"};
  EXPECT_THAT(near_names("aaa", names), ElementsAre("aab", "aac", "aad"));
  EXPECT_THAT(near_names("aaa", names, 1), ElementsAre("aab"));
}

TEST(NearNames, VeryLongWordsHaveNone) {
  const std::string word(65, 'a'), near(64, 'a');
  EXPECT_THAT(near_names(word, Names{near}), IsEmpty());
  EXPECT_THAT(near_names(near, Names{word}), IsEmpty());
}

TEST(JoinNames, ReadsAsASentenceDoes) {
  EXPECT_EQ(join_names(Names{}), "");
  EXPECT_EQ(join_names(Names{"a"}), "`a`");
  EXPECT_EQ(join_names(Names{"a", "b"}), "`a` or `b`");
  EXPECT_EQ(join_names(Names{"a", "b", "c"}, "and"), "`a`, `b` and `c`");
}

}  // namespace
}  // namespace groma
