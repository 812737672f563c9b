// The parts of the channel that read foreign bytes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "llm/sse.h"
#include "llm/text.h"

namespace groma::llm {
namespace {

using ::testing::ElementsAre;

// The events of a stream that comes in pieces of this size.
std::vector<std::string> events_of(std::string_view stream, std::size_t piece) {
  std::vector<std::string> events;
  const auto add = [&events](std::string_view data) { events.emplace_back(data); };
  SseParser parser;
  for (std::size_t at = 0; at < stream.size(); at += piece) {
    parser.feed(stream.substr(at, piece), add);
  }
  parser.finish(add);
  return events;
}

TEST(Sse, ReadsEventsHoweverTheyAreCut) {
  const std::string_view stream =
      "data: one\n\n: a comment\n\nevent: x\ndata:two\ndata:  more\r\n\r\ndata\n\nid: 7\n\r\r"
      "error: {}\n\ndata: last";
  for (std::size_t piece : {1U, 2U, 3U, 7U, 1000U}) {
    EXPECT_THAT(events_of(stream, piece), ElementsAre("one", "two\n more", "", "{}", "last"))
        << piece;
  }
}

TEST(Text, BrokenUtf8IsMadeWhole) {
  const std::string bad = "\xEF\xBF\xBD";
  EXPECT_EQ(valid_utf8("plain \xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80"),
            "plain \xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80");
  EXPECT_EQ(valid_utf8("a\xFF"), "a" + bad);
  EXPECT_EQ(valid_utf8("\xC3"), bad);
  EXPECT_EQ(valid_utf8("\xC3(x"), bad + "(x");
  EXPECT_EQ(valid_utf8("\xE2\x82z"), bad + bad + "z");
  EXPECT_EQ(valid_utf8("\xC0\x80"), bad + bad);                      // overlong
  EXPECT_EQ(valid_utf8("\xED\xA0\x80"), bad + bad + bad);            // a surrogate
  EXPECT_EQ(valid_utf8("\xF4\x90\x80\x80"), bad + bad + bad + bad);  // beyond the last
}

TEST(Text, IsShownOnOneBoundedLine) {
  EXPECT_EQ(shown("a\x1b[31m\nb\x7f\xC2\x9B"
                  "c\n"),
            "a [31m b  c");
  EXPECT_EQ(shown(std::string(500, 'x'), 10), "xxxxxxxxxx...");
  EXPECT_EQ(shown("123456789\xC3\xA9zz", 10), "123456789...");
}

TEST(Text, ThoughtsAreTakenOut) {
  const auto split = [](std::string text) {
    std::string reasoning;
    split_thoughts(&text, &reasoning);
    return text + "|" + reasoning;
  };
  EXPECT_EQ(split("Task * GPU;"), "Task * GPU;|");
  EXPECT_EQ(split("<think>a\n</think>\n\nb"), "b|a\n");
  EXPECT_EQ(split("<think></think>b"), "b|");
  EXPECT_EQ(split("a</think> b"), "b|a");
  EXPECT_EQ(split("<think>a"), "|a");
  EXPECT_EQ(split("b <think>a"), "b |a");
  EXPECT_EQ(split("<thinking>a</thinking>b"), "b|a");
  EXPECT_EQ(split("a # <think>b\n<think>c</think>d"), "a # <think>b\nd|c");
  EXPECT_EQ(split("a / <think># b</think>/ <think>c"), "a / / |# bc");
  EXPECT_EQ(split("a // </think>b\n</think>c"), "c|a // </think>b\n");
}

// In time that grows with the text: each of these would take minutes otherwise.
TEST(Text, ManyThoughtsAreTakenOut) {
  constexpr std::size_t kMany = 500'000;
  std::string many, quoted = "# ", reasoning;
  for (std::size_t i = 0; i < kMany; ++i) {
    many += "<think>a</think>b";
    quoted += "<think></think>";
  }
  split_thoughts(&many, &reasoning);
  EXPECT_EQ(many, std::string(kMany, 'b'));
  EXPECT_EQ(reasoning, std::string(kMany, 'a'));
  const std::string before = quoted;
  reasoning.clear();
  split_thoughts(&quoted, &reasoning);
  EXPECT_EQ(quoted, before);
  EXPECT_EQ(reasoning, "");
}

TEST(Text, KeysAreTakenOut) {
  EXPECT_EQ(redacted("a secret, secret", "secret"), "a [key], [key]");
  EXPECT_EQ(redacted("a secret", ""), "a secret");
  EXPECT_EQ(redacted("secsecret", "secret"), "sec[key]");
  // As JSON may write it, once or in a text within a text.
  EXPECT_EQ(redacted(R"("\u0073ec\/ret" "\\u0073ec\\/ret" "\nsec/ret")", "sec/ret"),
            R"("[key]" "[key]" "\n[key]")");
  EXPECT_EQ(redacted("in sec%72et, s%65c%2Bret%2f", "sec+ret/"), "in sec%72et, [key]");
  EXPECT_EQ(redacted("100% %zz %", "secret"), "100% %zz %");
  EXPECT_EQ(redacted("\\\\\\secre", "secret"), "[key]") << "an end that begins it";
  EXPECT_EQ(redacted("a sec", "secret"), "a sec");
  EXPECT_EQ(redacted("secre t", "secret"), "secre t");
}

}  // namespace
}  // namespace groma::llm
