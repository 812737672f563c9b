// Frames in pieces, frames that are wrong, and URIs.
#include "language_server/protocol.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace groma::language_server {
namespace {

using ::testing::ElementsAre;

// Reads a stream in pieces of `size` bytes. A problem is shown as `!`.
std::vector<std::string> read(std::string_view stream, std::size_t size) {
  FrameReader reader;
  std::vector<std::string> found;
  for (std::size_t at = 0; at < stream.size(); at += size) {
    reader.add(stream.substr(at, size));
    while (const auto frame = reader.next()) {
      found.push_back(frame->problem.empty() ? frame->text : "!");
    }
  }
  return found;
}

TEST(FrameReader, ReadsFramesInPiecesOfAnySize) {
  const std::string stream =
      "Content-Length: 2\r\n\r\n{}content-length:3\r\nContent-Type: x\r\n\r\n[1]Content-Length: "
      "0\n\n";
  for (std::size_t size = 1; size <= stream.size(); ++size) {
    EXPECT_THAT(read(stream, size), ElementsAre("{}", "[1]", "")) << size;
  }
}

TEST(FrameReader, GoesOnAfterGarbage) {
  const std::string good = "Content-Length: 2\r\n\r\n{}";
  for (const std::string& garbage :
       {std::string("Content-Length: -1\r\n\r\n[]"), std::string("Nothing: 1\r\n\r\n"),
        std::string(3 * kMaxHeaderBytes, 'x')}) {
    for (const std::size_t size : {std::size_t{1}, std::size_t{1000}, garbage.size()}) {
      EXPECT_THAT(read(good + garbage + good + good, size), ElementsAre("{}", "!", "{}", "{}"));
    }
  }
}

TEST(FrameReader, SkipsAMessageThatIsTooLarge) {
  const std::size_t large = kMaxLanguageMessageBytes + 1;
  FrameReader reader;
  reader.add("Content-Length: " + std::to_string(large) + "\r\n\r\n");
  const auto problem = reader.next();
  ASSERT_TRUE(problem.has_value());
  EXPECT_NE(problem->problem, "");
  const std::string piece(1 << 20, '{');
  for (std::size_t sent = 0; sent < large; sent += piece.size()) {
    reader.add(std::string_view(piece).substr(0, large - sent));
    EXPECT_FALSE(reader.next().has_value());
  }
  reader.add("Content-Length: 2\r\n\r\n{}");
  EXPECT_EQ(reader.next()->text, "{}");
}

TEST(Message, RefusesWhatIsTooDeepOrNotJson) {
  std::string problem;
  EXPECT_TRUE(parse_message("{\"a\": [1]}", &problem).has_value());
  EXPECT_FALSE(parse_message(std::string(100000, '['), &problem).has_value());
  EXPECT_NE(problem, "");
  EXPECT_FALSE(parse_message("{\"a\": \"\xFF\"}", &problem).has_value());
}

TEST(Uri, IsTheInverseOfThePath) {
  for (const std::string path : {"/a/b.mapper", "/with space/\xC3\xA9%#?.mapper"}) {
    EXPECT_EQ(path_of_uri(uri_of_path(path)), path);
  }
  EXPECT_EQ(path_of_uri("file://localhost/a"), "/a");
  EXPECT_EQ(path_of_uri("file:///a%2"), "/a%2");
  EXPECT_EQ(path_of_uri("file:///a%00b"), "");
  EXPECT_EQ(path_of_uri("file://host/a"), "");
  EXPECT_EQ(path_of_uri("untitled:1"), "");
}

}  // namespace
}  // namespace groma::language_server
