#include "groma/line_edits.h"

#include <gtest/gtest.h>

#include <string>

namespace groma {
namespace {

std::string edits(std::string_view before, std::string_view after, std::size_t most = 1'000) {
  std::string text;
  for (const LineEdit& edit : line_edits(before, after, most)) {
    text += edit.sign;
    text += edit.line;
  }
  return text;
}

TEST(LineEdits, AreAsFewAsPossible) {
  EXPECT_EQ(edits("", ""), "");
  EXPECT_EQ(edits("a\nb\n", "a\nb\n"), " a\n b\n");
  EXPECT_EQ(edits("a\n", ""), "-a\n");
  EXPECT_EQ(edits("", "a"), "+a");
  EXPECT_EQ(edits("a\nb\nc\nd\ne\n", "a\nx\nc\ny\ne\n"), " a\n-b\n+x\n c\n-d\n+y\n e\n");
  EXPECT_EQ(edits("a\nb", "a\nb\n"), " a\n-b+b\n");
}

TEST(LineEdits, AreOneChangeBeyondTheBound) {
  EXPECT_EQ(edits("a\nb\nc\nd\ne\n", "a\nx\nc\ny\ne\n", 15), " a\n-b\n-c\n-d\n+x\n+c\n+y\n e\n");
}

}  // namespace
}  // namespace groma
