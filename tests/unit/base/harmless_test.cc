// The filter for foreign text: what it hides, what it keeps.
#include "groma/harmless.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/characters.h"
#include "groma/columns.h"
namespace groma {
namespace {

std::string utf8(char32_t code) {
  const auto byte = [](char32_t bits) { return static_cast<char>(bits); };
  if (code < 0x80) return {byte(code)};
  if (code < 0x800) return {byte(0xC0 | code >> 6), byte(0x80 | (code & 0x3F))};
  if (code < 0x10000) {
    return {byte(0xE0 | code >> 12), byte(0x80 | (code >> 6 & 0x3F)), byte(0x80 | (code & 0x3F))};
  }
  return {byte(0xF0 | code >> 18), byte(0x80 | (code >> 12 & 0x3F)),
          byte(0x80 | (code >> 6 & 0x3F)), byte(0x80 | (code & 0x3F))};
}

TEST(Harmless, IsOneLineWithoutHiddenCharacters) {
  EXPECT_EQ(harmless("a\x1b[31mb\x07\x7f"), R"(a\u001b[31mb\u0007\u007f)");
  EXPECT_EQ(harmless("a\tb\r\nc"), "a b  c");
  EXPECT_EQ(harmless("\xC2\x9B"
                     "1m \xE2\x80\xAE \xE2\x81\xA6 \xD8\x9C \xE2\x80\x8B \xEF\xBB\xBF"),
            R"(\u009b1m \u202e \u2066 \u061c \u200b \ufeff)");
  EXPECT_EQ(harmless("\xF3\xA0\x81\x81"), R"(\udb40\udc41)");
  EXPECT_EQ(harmless("caf\xE9 \x9B \xE2\x80"), R"(caf\xe9 \x9b \xe2\x80)");
  for (const std::string plain :
       {"", "Task * GPU;", "caf\xC3\xA9 \xE6\x97\xA5\xE6\x9C\xAC \xF0\x9F\x98\x80",
        "\xE2\x9A\xA0\xEF\xB8\x8F", "a\xC2\xA0z", "\\u202e"}) {
    EXPECT_EQ(harmless(plain), plain);
    EXPECT_EQ(harmless_lines(plain), plain);
    EXPECT_EQ(visible(plain), plain);
  }
}

TEST(Harmless, IsCutBetweenCharacters) {
  EXPECT_EQ(harmless("abc", 3), "abc");
  EXPECT_EQ(harmless("abcd", 3), "abc...");
  EXPECT_EQ(harmless("ab\xC3\xA9z", 3), "ab...");
  EXPECT_EQ(harmless("\x1b\x1b", 1), "\\u001b...");
  EXPECT_EQ(harmless("\x80\x80\x80\x80\x80\x80", 5), "\\x80\\x80...")
      << "none of them is a character";
}

TEST(Harmless, AWordShowsItsBlanks) {
  EXPECT_EQ(visible("a b\tc\nd\re\x1b"), R"(a b\tc\nd\re\u001b)");
}

TEST(Harmless, LinesStayLines) {
  EXPECT_EQ(harmless_lines("a\tb\nc\r\nd\x1b\n"), "a\tb\nc\r\nd\\u001b\n");
  EXPECT_EQ(harmless_lines("what\rwas"), "what\\rwas") << "nothing stands over what came before";
  EXPECT_EQ(harmless_lines("\x1b[1;31mred\x1b[0m"), R"(\u001b[1;31mred\u001b[0m)");
  EXPECT_EQ(harmless_lines("\x1b[1;31mred\x1b[0m\x1b[2J\x1b]0;t\x07\x1b[m", true),
            "\x1b[1;31mred\x1b[0m\\u001b[2J\\u001b]0;t\\u0007\x1b[m");
}

// All characters that there are: what comes out is UTF-8 without hidden ones, and the same again
// when it goes through once more.
TEST(Harmless, OfAllCharacters) {
  std::string all;
  for (char32_t code = 0; code <= 0x10FFFF; ++code) {
    if (code < 0xD800 || code > 0xDFFF) all += utf8(code) + " ";
  }
  for (const std::string& shown : {harmless(all), visible(all), harmless_lines(all)}) {
    for (std::size_t at = 0; at < shown.size();) {
      const DecodedCharacter character = first_character(std::string_view(shown).substr(at));
      ASSERT_GT(character.length, 0U) << at;
      const bool blank = character.code == '\t' || character.code == '\n';
      ASSERT_TRUE(blank || !is_hidden(character.code)) << static_cast<unsigned>(character.code);
      at += character.length;
    }
    EXPECT_EQ(harmless_lines(shown), shown);
  }
  EXPECT_EQ(harmless(all).find_first_of("\t\n\r"), std::string::npos);
}

TEST(Characters, AreThoseOfUtf8) {
  for (char32_t code = 0; code <= 0x10FFFF; ++code) {
    if (code >= 0xD800 && code <= 0xDFFF) continue;
    const std::string bytes = utf8(code);
    const DecodedCharacter character = first_character(bytes + "x");
    ASSERT_TRUE(character.code == code) << static_cast<unsigned>(code);
    ASSERT_EQ(character.length, bytes.size());
    if (bytes.size() == 1) continue;
    ASSERT_EQ(first_character(bytes.substr(0, bytes.size() - 1)).length, 0U);
  }
  for (const char* wrong : {"\x80", "\xC0\x80", "\xC1\xBF", "\xE0\x9F\xBF", "\xED\xA0\x80",
                            "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF"}) {
    EXPECT_EQ(first_character(wrong).length, 0U);
  }
  EXPECT_EQ(first_character("").length, 0U);
}

TEST(Characters, HiddenOnesAreFound) {
  EXPECT_EQ(find_hidden("a\tb\r\nc", 0), 4U);
  EXPECT_EQ(find_hidden("a\tb\r", 0), 4U);
  EXPECT_EQ(find_hidden("a\rb", 0), 1U);
  EXPECT_EQ(find_hidden("ab\xE2\x80\xAEz\xFF", 0), 2U);
  EXPECT_EQ(find_hidden("ab\xE2\x80\xAEz\xFF", 5), 6U);
  EXPECT_EQ(find_hidden("caf\xC3\xA9", 0), 5U);
}

TEST(Columns, OfWideNarrowAndHiddenCharacters) {
  EXPECT_EQ(columns_of("abc"), 3U);
  EXPECT_EQ(columns_of("\u6f22\u5b57"), 4U);  // two ideographs
  EXPECT_EQ(columns_of("e\u0301"), 1U);       // an accent on its letter
  EXPECT_EQ(columns_of("\U0001F600"), 2U);
  EXPECT_EQ(columns_of("\x1b"), 6U);  // `\u001b`
  EXPECT_EQ(cut_to_columns("a\u6f22\u5b57", 4), "a\u6f22");
  EXPECT_EQ(cut_to_columns("abc", 2), "ab");
}

}  // namespace
}  // namespace groma
