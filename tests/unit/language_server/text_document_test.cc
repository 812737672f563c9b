// Positions of the protocol against offsets in bytes, in all three encodings.
#include "language_server/text_document.h"

#include <gtest/gtest.h>

namespace groma::language_server {
namespace {

using enum PositionEncoding;

TEST(TextDocument, CountsCharactersInTheAgreedUnits) {
  const TextDocument document("a\xC3\xA9\xF0\x9F\x98\x80z\nb");  // a, e with acute, emoji, z
  EXPECT_EQ(document.position_of(7, kUtf8), (LinePosition{0, 7}));
  EXPECT_EQ(document.position_of(7, kUtf16), (LinePosition{0, 4}));
  EXPECT_EQ(document.position_of(7, kUtf32), (LinePosition{0, 3}));
  EXPECT_EQ(document.offset_of({0, 4}, kUtf16), 7U);
  // Inside the emoji, which has two units in UTF-16.
  EXPECT_EQ(document.offset_of({0, 3}, kUtf16), 3U);
  EXPECT_EQ(document.offset_of({0, 99}, kUtf16), 8U);
  EXPECT_EQ(document.offset_of({99, 0}, kUtf16), 10U);
}

TEST(TextDocument, EveryOffsetHasItsPosition) {
  const TextDocument document("Task \xC3\xA9;\r\n\rx\n\n\xF0\x9F\x98\x80");
  const std::string& text = document.text();
  EXPECT_EQ(document.line_count(), 5U);
  for (std::size_t offset = 0; offset <= text.size(); ++offset) {
    for (const PositionEncoding encoding : {kUtf8, kUtf16, kUtf32}) {
      const LinePosition position = document.position_of(offset, encoding);
      const std::size_t back = document.offset_of(position, encoding);
      // An offset inside of a character or a line end belongs to no position.
      EXPECT_LE(back > offset ? back - offset : offset - back, 3U) << offset;
      const char here = offset < text.size() ? text[offset] : ' ';
      const bool is_inside = (static_cast<unsigned char>(here) & 0xC0U) == 0x80U ||
                             (here == '\n' && offset > 0 && text[offset - 1] == '\r');
      if (!is_inside) {
        EXPECT_EQ(back, offset);
      }
    }
  }
}

TEST(TextDocument, IncrementalChangesGiveTheWholeText) {
  TextDocument document("one\ntwo\nthree\n");
  document.replace(document.offset_of({1, 0}, kUtf16), document.offset_of({2, 0}, kUtf16), "");
  document.replace(document.offset_of({1, 5}, kUtf16), document.offset_of({1, 5}, kUtf16), "!\nx");
  EXPECT_EQ(document.text(), "one\nthree!\nx\n");
  EXPECT_EQ(document.line_count(), 4U);
  document.replace(99, 5, "end");  // ranges behind the end are cut
  EXPECT_EQ(document.text(), "one\nthree!\nx\nend");
}

}  // namespace
}  // namespace groma::language_server
