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
            R"(a\u001b[31m b\u007f\u009bc)");
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
  // A beginning of four letters or more, where it begins a word.
  EXPECT_EQ(redacted("secre t, (secr) 'secreX' sec", "secret"), "[key] t, ([key]) '[key]X' sec");
  EXPECT_EQ(redacted("unsecre t", "secret"), "unsecre t");
  EXPECT_EQ(redacted(R"(a\nsecr b%20secr c\u0020secr d)", "secret"),
            R"(a\n[key] b%20[key] c\u0020[key] d)");
  // A key that repeats itself.
  EXPECT_EQ(redacted("ababababc", "ababc"), "[key][key]");
  EXPECT_EQ(redacted("sk-sk-sk-SECRET", "sk-sk-SECRET"), "[key]");
  EXPECT_EQ(without_whole_key("secre secret", "secret"), "secre [key]");
}

// However a text comes in pieces, what is shown is what the whole text would be.
TEST(Text, KeysAreTakenOutWhileTheyCome) {
  const std::string key = "sk-ab/SECRET";
  for (const std::string text :
       {"a sk-ab/SECRET b", "sk-ab/SECRETsk-ab/SECRET", "x sk-ab/SE, sk-a y", "task-ab is no key",
        R"(\u0073k-ab\/SECRET %73k-ab%2FSECRET \\\\s)", "sk-ask-ab/SECRET", "the end sk-ab/S",
        "task-ab", "100% \\ %7", R"(\n \nsk-ab\n)", "sk-ab/SECRE\xC3\xA9"}) {
    for (std::size_t piece = 1; piece <= text.size(); ++piece) {
      LiveRedactor redactor(key);
      std::string shown;
      for (std::size_t at = 0; at < text.size(); at += piece) {
        shown += redactor.feed(text.substr(at, piece));
      }
      shown += redactor.finish();
      EXPECT_EQ(shown, redacted(text, key)) << text << " by " << piece;
    }
  }
  // In time that grows with the text: this would take minutes otherwise.
  LiveRedactor many(key);
  std::size_t shown = 0;
  for (int i = 0; i < 1'000'000; ++i) shown += many.feed("\\").size();
  EXPECT_EQ(shown + many.finish().size(), 1'000'000U);
  LiveRedactor redactor(key);
  EXPECT_EQ(redactor.feed("hello wor"), "hello wor") << "what is no key is not held back";
}

TEST(Text, KeysAreTakenOutOfBodies) {
  EXPECT_EQ(redacted_body(R"({"a":["sec","ret"],"b":"x"})", "secret"),
            R"({"a":["[key]",""],"b":"x"})");
  EXPECT_EQ(redacted_body(R"({"a":"asecr","secret":1,"secr":2})", "secret"),
            R"({"[key]":1,"a":"a[key]","secr":2})");
  EXPECT_EQ(redacted_body(R"({"a":123456})", "123456"), R"({"a":[key]})");
  EXPECT_EQ(redacted_body(R"({"a":"secr","a":"x"})", "secret"), R"({"a":"x"})");
  const std::string plain = R"({ "a" : "x", "tokens": 1 })";
  EXPECT_EQ(redacted_body(plain, "secret"), plain);
  EXPECT_EQ(redacted_request(R"({"model":"secr","x":"a secret"})", "secret"),
            R"({"model":"secr","x":"a [key]"})");
}

}  // namespace
}  // namespace groma::llm
