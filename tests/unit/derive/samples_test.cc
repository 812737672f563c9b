// Samples from CSV: what is read, and what is refused, with its place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "groma/domain_derivation.h"

namespace groma::domains {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::optional<Samples> read(const std::string& text) {
  Diagnostics diags(Source("a.csv", text));
  return read_samples(diags);
}

// Returns the first mistake of a text, with the text that it is about.
std::string mistake(const std::string& text) {
  Diagnostics diags(Source("a.csv", text));
  if (read_samples(diags)) return "no mistake";
  const Diagnostic first = diags.sorted().front();
  std::string words = first.message + " [" + std::string(name_of(first.id)) + "]";
  if (first.range) words += " at `" + std::string(diags.source().text(*first.range)) + "`";
  return words;
}

TEST(Samples, MayHaveNamesAndNumbers) {
  const auto with_both = read("k,col,row\n0,0,0\n1,0,1\n2,1,1\n");
  ASSERT_TRUE(with_both);
  EXPECT_THAT(with_both->names, ElementsAre("col", "row"));
  EXPECT_THAT(with_both->points, ElementsAre(Point({0, 0}), Point({0, 1}), Point({1, 1})));
  EXPECT_EQ(read("# a comment\n0, 0, 0\r\n1, 0, 1\r\n\n2, 1, 1\n")->points, with_both->points);
  EXPECT_EQ(read("x,y\n0,0\n0,1\n1,1\n")->points, with_both->points);
  EXPECT_EQ(read("0,0\n0,1\n1,1\n")->points, with_both->points);
  EXPECT_EQ(read("k,x,y\n2,1,1\n0,0,0\n1,0,1\n")->points, with_both->points);
}

TEST(Samples, WithoutNamesAnIncreasingFirstColumnHasTheNumbers) {
  EXPECT_THAT(read("0,5\n1,7\n2,9\n")->points, ElementsAre(Point({5}), Point({7}), Point({9})));
  EXPECT_THAT(read("x,y\n0,5\n1,7\n")->points, ElementsAre(Point({0, 5}), Point({1, 7})));
  EXPECT_THAT(read("0,0\n1,0\n0,1\n")->points,
              ElementsAre(Point({0, 0}), Point({1, 0}), Point({0, 1})));
}

TEST(Samples, NamesThatADeclarationCannotHaveAreReplaced) {
  EXPECT_THAT(read("k,n,in\n0,0,0\n1,0,1\n")->names, ElementsAre("x", "y"));
  EXPECT_THAT(read("k,a,a\n0,0,0\n1,0,1\n")->names, ElementsAre("x", "y"));
}

TEST(Samples, MistakesAreNamedWithTheirPlace) {
  EXPECT_EQ(mistake("k,x\n0,1\n1,2\n1,3\n"), "k = 1 has two answers [domain-samples] at `1,3`");
  EXPECT_EQ(mistake("k,x\n0,1\n1,2\n3,3\n"),
            "k = 2 is missing before this line [domain-samples] at `3,3`");
  EXPECT_EQ(mistake("0,1\n1,2\n3,3\n"),
            "k = 2 is missing before this line [domain-samples] at `3,3`");
  EXPECT_THAT(mistake("k,x\n1,1\n2,2\n"), HasSubstr("k = 0 is missing"));
  EXPECT_THAT(mistake("0,0\n0,1,2\n"), HasSubstr("has 3 columns, and the lines above have 2"));
  EXPECT_EQ(mistake("0,0\n0,one\n"), "`one` is not a whole number [domain-samples] at `one`");
  EXPECT_THAT(mistake("0,0\n0,1.5\n"), HasSubstr("`1.5` is not a whole number"));
  EXPECT_THAT(mistake("0,0\n0,\n"), HasSubstr("`` is not a whole number"));
  EXPECT_THAT(mistake("0,0\n0,2147483648\n"), HasSubstr("`2147483648` is larger than 2147483647"));
  EXPECT_THAT(mistake("0,0\n0,99999999999999999999999\n"), HasSubstr("is larger than 2147483647"));
  EXPECT_THAT(mistake("0,0\n0,1\n0,0\n"), HasSubstr("the point (0, 0) is there twice"));
  EXPECT_THAT(mistake("0,0,0,0,0\n0,0,0,0,1\n"), HasSubstr("at most 4 coordinates"));
  EXPECT_THAT(mistake("0,0,0,0,0,0\n"), HasSubstr("at most 5 columns"));
  EXPECT_THAT(mistake(""), HasSubstr("there are no samples"));
  EXPECT_THAT(mistake("k,x,y\n"), HasSubstr("there are no samples"));
  EXPECT_THAT(mistake(std::string("0,0\n0,\x01\xff\n")), HasSubstr("is not a whole number"));
}

TEST(Samples, TooManyAreRefused) {
  std::string text = "x\n";
  for (std::size_t i = 0; i <= kMaxSamples; ++i) text += std::to_string(i) + "\n";
  EXPECT_THAT(mistake(text), HasSubstr("more than 100000 samples"));
}

}  // namespace
}  // namespace groma::domains
