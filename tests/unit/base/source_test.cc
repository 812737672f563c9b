#include "groma/source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace groma {
namespace {

using ::testing::HasSubstr;

void expect_position(const Source& source, std::uint32_t offset, Position expected) {
  const Position found = source.position(offset);
  EXPECT_EQ(found.line, expected.line) << "offset " << offset;
  EXPECT_EQ(found.column, expected.column) << "offset " << offset;
}

class ReadTest : public ::testing::Test {
 protected:
  ReadTest() {
    std::string name = (std::filesystem::temp_directory_path() / "groma-source-XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~ReadTest() override { std::filesystem::remove_all(folder_); }

  std::string file(const std::string& name, std::string_view text) const {
    const std::filesystem::path path = folder_ / name;
    std::ofstream(path, std::ios::binary) << text;
    return path.string();
  }

  std::filesystem::path folder_;
};

TEST(Source, CountsLinesAndColumnsFromOne) {
  const Source source("a", "ab\ncd\n");
  expect_position(source, 0, {1, 1});
  expect_position(source, 2, {1, 3});  // the line end itself
  expect_position(source, 3, {2, 1});
  expect_position(source, 5, {2, 3});
  expect_position(source, 6, {3, 1});
  expect_position(source, 600, {3, 1});  // past the end is the end
}

TEST(Source, AnEmptyTextHasOnePlace) {
  const Source source;
  expect_position(source, 0, {1, 1});
  EXPECT_EQ(source.line_at(0), (Range{0, 0}));
}

TEST(Source, CountsCharactersNotBytes) {
  const Source source("a", "\t# K\xC3\xB6ln \xE2\x82\xAC \xF0\x9F\x98\x80 x");
  expect_position(source, 1, {1, 2});  // a tab is one
  expect_position(source, 4, {1, 5});
  expect_position(source, 6, {1, 6});    // after the two bytes of o umlaut
  expect_position(source, 12, {1, 10});  // after the euro sign's three
  expect_position(source, 18, {1, 13});  // after the face's four, and a blank
}

TEST(Source, ALineOfCrlfEndsBeforeTheCarriageReturn) {
  const Source source("a", "ab\r\ncd\r\n\r\n");
  EXPECT_EQ(source.text(source.line_at(0)), "ab");
  EXPECT_EQ(source.text(source.line_at(3)), "ab");
  EXPECT_EQ(source.text(source.line_at(5)), "cd");
  EXPECT_EQ(source.text(source.line_at(8)), "");
  EXPECT_EQ(source.text(source.line_at(10)), "");
  expect_position(source, 5, {2, 2});
}

TEST(Source, FindsTheLineOfAnOffset) {
  const Source source("a", "\nab\n\nc");
  EXPECT_EQ(source.line_at(0), (Range{0, 0}));
  EXPECT_EQ(source.line_at(1), (Range{1, 3}));
  EXPECT_EQ(source.line_at(3), (Range{1, 3}));
  EXPECT_EQ(source.line_at(4), (Range{4, 4}));
  EXPECT_EQ(source.line_at(5), (Range{5, 6}));
  EXPECT_EQ(source.line_at(99), (Range{5, 6}));
}

TEST(Source, TurnsPositionsBackIntoOffsets) {
  const Source source("a",
                      "a\xC3\xB6"
                      "b\r\n\n\xE2\x82\xAC");
  const std::string_view text = source.text();
  for (std::uint32_t offset = 0; offset <= text.size(); ++offset) {
    const bool inside =
        offset < text.size() && (static_cast<unsigned char>(text[offset]) & 0xC0) == 0x80;
    if (inside) continue;  // no character begins here
    std::uint32_t back = 0;
    ASSERT_TRUE(source.offset(source.position(offset), &back)) << offset;
    EXPECT_EQ(back, offset);
  }
}

TEST(Source, FindsPositionsFarBehind) {
  std::string text;
  Position at;
  std::vector<Position> positions;
  for (std::uint32_t i = 0; text.size() < 300'000; ++i) {
    const std::string_view piece = i % 7 == 0 ? "\xE2\x82\xAC" : i % 40'000 == 9 ? "\n" : "x";
    for (std::size_t byte = 0; byte < piece.size(); ++byte) {
      positions.push_back({at.line, at.column + (byte > 0 ? 1U : 0U)});
    }
    text += piece;
    at = piece == "\n" ? Position{at.line + 1, 1} : Position{at.line, at.column + 1};
  }
  const Source source("long", text);
  for (std::uint32_t offset = 0; offset < text.size(); offset += 61) {
    ASSERT_EQ(source.position(offset), positions[offset]) << offset;
  }
  for (const std::uint32_t offset : {65'535U, 65'536U, 65'537U, 131'072U}) {
    EXPECT_EQ(source.position(offset), positions[offset]) << offset;
  }
}

TEST(Source, SomePositionsDoNotExist) {
  const Source source("a", "ab\nc");
  std::uint32_t offset = 0;
  EXPECT_FALSE(source.offset({3, 1}, &offset));
  EXPECT_FALSE(source.offset({1, 4}, &offset)) << "the line end is the last place of a line";
  EXPECT_FALSE(source.offset({2, 3}, &offset));
  EXPECT_FALSE(source.offset({0, 1}, &offset));
  EXPECT_FALSE(source.offset({1, 0}, &offset));
}

TEST(Source, CopiesShareTheirText) {
  const Source source("a", std::string(100, 'x'));
  const Source copy = source;
  EXPECT_EQ(copy.text().data(), source.text().data());
}

TEST_F(ReadTest, ReadsBytesAsTheyAre) {
  const std::string bytes(
      "\xEF\xBB\xBF"
      "a\r\n\0b",
      8);
  const Result<Source> source = Source::read(file("a.mapper", bytes));
  ASSERT_TRUE(source);
  EXPECT_EQ(source->text(), bytes);
  EXPECT_THAT(source->name(), HasSubstr("a.mapper"));
}

TEST_F(ReadTest, AMissingFileIsUnreadable) {
  const std::string path = (folder_ / "absent.mapper").string();
  const Result<Source> source = Source::read(path);
  ASSERT_FALSE(source);
  EXPECT_EQ(source.error().code, Error::Code::kUnreadable);
  EXPECT_EQ(source.error().message, "cannot read `" + path + "`: No such file or directory");
}

TEST_F(ReadTest, ADirectoryIsUnreadable) {
  const Result<Source> source = Source::read(folder_.string());
  ASSERT_FALSE(source);
  EXPECT_EQ(source.error().code, Error::Code::kUnreadable);
  EXPECT_THAT(source.error().message, HasSubstr("it is a directory"));
}

TEST_F(ReadTest, WhatIsNoRegularFileIsNotWaitedFor) {
  const std::string text = file("file", "text"), pipe = folder_ / "pipe", link = folder_ / "link";
  EXPECT_EQ(*read_regular_file(text, 4), "text");
  EXPECT_EQ(read_regular_file(text, 3).error().code, Error::Code::kTooLarge);
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  std::filesystem::create_symlink(text, link);
  const std::string folder = folder_, none = folder_ / "none";
  for (const std::string& path :
       {pipe, link, folder, none, std::string("-"), std::string("/dev/zero")}) {
    const auto read = read_regular_file(path, 4);
    ASSERT_FALSE(read) << path;
    EXPECT_EQ(read.error().code, Error::Code::kUnreadable) << path;
  }
}

TEST(Source, AFileThatFailsWhileItIsReadIsUnreadable) {
  const std::string path = "/proc/self/mem";  // opens, but nothing is mapped at its beginning
  if (!std::filesystem::exists(path)) GTEST_SKIP();
  const Result<Source> source = Source::read(path);
  ASSERT_FALSE(source);
  EXPECT_EQ(source.error().code, Error::Code::kUnreadable);
  EXPECT_EQ(source.error().message, "cannot read `/proc/self/mem`: Input/output error");
}

TEST_F(ReadTest, ABoundIsKeptToTheByte) {
  const std::string path = file("five", "12345");
  EXPECT_TRUE(read_file(path, 5));
  const Result<std::string> text = read_file(path, 4);
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().code, Error::Code::kTooLarge);
  EXPECT_THAT(text.error().message, HasSubstr("more than 4 bytes"));
}

TEST_F(ReadTest, AnEndlessFileIsTooLargeSoon) {
  if (!std::filesystem::exists("/dev/zero")) GTEST_SKIP();
  const Result<std::string> text = read_file("/dev/zero", std::size_t{1} << 20);
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().code, Error::Code::kTooLarge);
}

}  // namespace
}  // namespace groma
