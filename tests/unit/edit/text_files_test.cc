// Texts of several files: joined, split, and as segments.
#include "groma/text_files.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "groma/segments.h"

namespace groma {
namespace {

using ::testing::HasSubstr;

TEST(TextFiles, ComeBackAsTheyWere) {
  const std::vector<NamedText> files = {{"a.cl", "int a;\n"}, {"b.h", ""}, {"c++-1.txt", "x"}};
  const auto joined = join_files(files);
  ASSERT_TRUE(joined.ok()) << joined.error().message;
  EXPECT_EQ(*joined, "groma: file a.cl\nint a;\ngroma: file b.h\ngroma: file c++-1.txt\nx\n");
  const auto split = split_files(*joined);
  ASSERT_TRUE(split.ok());
  ASSERT_EQ(split->size(), 3U);
  EXPECT_EQ((*split)[0].name, "a.cl");
  EXPECT_EQ((*split)[0].text, "int a;\n");
  EXPECT_EQ((*split)[1].text, "");
  EXPECT_EQ((*split)[2].text, "x\n");
}

TEST(TextFiles, ATextWithoutThatLineIsOneFile) {
  for (const char* text : {"", "x", "\ngroma: file a.cl\n", "groma: file ../a\n", "groma: file .a",
                           "groma: file a b", " groma: file a"}) {
    const auto split = split_files(text);
    ASSERT_TRUE(split.ok()) << text;
    ASSERT_EQ(split->size(), 1U) << text;
    EXPECT_EQ(split->front().name, "");
    EXPECT_EQ(split->front().text, text);
  }
}

TEST(TextFiles, NameTheirLines) {
  EXPECT_EQ(name_of_line("a\nb\n", 2), "line 2");
  EXPECT_EQ(name_of_line("a\ngroma: file b\nc\n", 3), "line 3");
  const std::string two = "groma: file a.cl\nint a;\nint b;\ngroma: file b.h\nint c;\n";
  EXPECT_EQ(name_of_line(two, 3), "a.cl:2");
  EXPECT_EQ(name_of_line(two, 5), "b.h:1");
  EXPECT_EQ(name_of_line(two, 1), "line 1");
  EXPECT_EQ(name_of_line("", 1), "line 1");
}

TEST(TextFiles, ThatCannotBeAreRefused) {
  const auto why = [](const std::vector<NamedText>& files) {
    const auto joined = join_files(files);
    return joined.ok() ? "none" : joined.error().message;
  };
  for (const char* name : {"", "a/b", "..", ".a", "-a", "a b", "a\n"}) {
    EXPECT_THAT(why({{name, ""}}), HasSubstr("is not a name")) << name;
  }
  EXPECT_THAT(why({{"a", ""}, {"a", ""}}), HasSubstr("two files are named `a`"));
  EXPECT_THAT(why({{"a", "x\ngroma: file b\n"}}), HasSubstr("has a line `groma: file b`"));
  EXPECT_THAT(why(std::vector<NamedText>(kMaxTextFiles + 1, {"a", ""})), HasSubstr("two files"));
  std::string many;
  for (std::size_t i = 0; i <= kMaxTextFiles; ++i) many += fmt::format("groma: file f{}\n", i);
  EXPECT_THAT(split_files(many).error().message, HasSubstr("more than 32 files"));
  EXPECT_THAT(split_files("groma: file a\ngroma: file a\n").error().message,
              HasSubstr("two files"));
}

// ------------------------------------------------------------------------------- as segments

TEST(WholeFiles, AreSegmentsIfNothingIsMarked) {
  const auto one = Segments::of_text(Source("/some/where/kernel.cl", "int a;\nlast"));
  ASSERT_TRUE(one.ok());
  ASSERT_EQ(one->all().size(), 1U);
  EXPECT_EQ(one->all()[0].name, "kernel.cl");
  EXPECT_EQ(one->all()[0].text, "int a;\nlast");
  EXPECT_TRUE(one->are_files());
  EXPECT_EQ(one->text(), "int a;\nlast");
  EXPECT_EQ(Segments::of_text(Source("a file", "x"))->all()[0].name, "text");

  const std::string text = "groma: file a.cl\nint a;\ngroma: file b.h\nint b;\n";
  auto two = Segments::of_text(Source("x", text));
  ASSERT_TRUE(two.ok());
  ASSERT_EQ(two->all().size(), 2U);
  EXPECT_EQ(two->all()[1].name, "b.h");
  EXPECT_EQ(two->text(), text);
  EXPECT_FALSE(two->set("b.h", "int c;"));
  EXPECT_EQ(two->text(), "groma: file a.cl\nint a;\ngroma: file b.h\nint c;\n");
}

TEST(WholeFiles, MarksNarrowWhatChanges) {
  const auto marked = Segments::of_text(
      Source("x",
             "groma: file a.cl\n// groma: begin tile\nint a;\n// groma: end\ngroma: file b.h\n"
             "int b;\n"));
  ASSERT_TRUE(marked.ok()) << marked.error().message;
  ASSERT_EQ(marked->all().size(), 1U);
  EXPECT_EQ(marked->all()[0].name, "tile");
  EXPECT_FALSE(marked->are_files());
  const auto over =
      Segments::of_text(Source("x",
                               "groma: file a.cl\n// groma: begin tile\nint a;\ngroma: file b.h\n"
                               "// groma: end\n"));
  ASSERT_FALSE(over.ok());
  EXPECT_THAT(over.error().message, HasSubstr("x:2: `tile` has no `groma: end` in its file"));
}

TEST(WholeFiles, AreNotSplitByANewText) {
  auto one = Segments::of_text(Source("a.cl", "int a;\n")).value();
  EXPECT_TRUE(one.set("a.cl", "groma: file b.cl\nint b;\n"));
  EXPECT_TRUE(one.set("a.cl", "// groma: begin x\n// groma: end\n"));
  EXPECT_EQ(one.text(), "int a;\n");
}

}  // namespace
}  // namespace groma
