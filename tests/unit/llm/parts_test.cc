// The parts of the channel that read foreign bytes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <random>
#include <string>
#include <utility>

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
  EXPECT_EQ(printable_line("a\x1b[31m\nb\x7f\xC2\x9B"
                           "c\n"),
            R"(a\u001b[31m b\u007f\u009bc)");
  EXPECT_EQ(printable_line(std::string(500, 'x'), 10), "xxxxxxxxxx...");
  EXPECT_EQ(printable_line("123456789\xC3\xA9zz", 10), "123456789...");
}

TEST(Text, ThoughtsAreTakenOut) {
  const auto split = [](std::string text) {
    std::string reasoning;
    move_reasoning_out(&text, &reasoning);
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
  move_reasoning_out(&many, &reasoning);
  EXPECT_EQ(many, std::string(kMany, 'b'));
  EXPECT_EQ(reasoning, std::string(kMany, 'a'));
  const std::string before = quoted;
  reasoning.clear();
  move_reasoning_out(&quoted, &reasoning);
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

// A server may put characters that nobody sees between the letters, or send UTF-16.
TEST(Text, KeysWithHiddenCharactersAreTakenOut) {
  EXPECT_EQ(redacted("a s\u00ADe\u200Bc\u00ADr\u00ADe\u00ADt b", "secret"), "a [key] b");
  EXPECT_EQ(redacted(R"(a s\u00ade\u200Bcret, \\u200bsec\\u0000ret)", "secret"),
            R"(a [key], \\u200b[key])");
  EXPECT_EQ(redacted(std::string("s\0e\0c\0r\0e\0t\0", 12), "secret"), std::string("[key]\0", 6));
  EXPECT_EQ(redacted("abc\u200Bd/EF\u200BGH-1\u200B", "sk-abcd/EFGH-1234%56"), "[key]\u200B");
  EXPECT_EQ(redacted("a sec\nret, \u00E9\u00AD", "secret"), "a sec\nret, \u00E9\u00AD");
}

TEST(Text, PartsOfKeysAreTakenOut) {
  const std::string key = "sk-abcd/EFGH-1234%56";
  EXPECT_EQ(redacted("ends in ...EFGH-1234%56.", key), "ends in ...[key].");
  EXPECT_EQ(redacted("xcd/EFGH-", key), "x[key]");
  EXPECT_EQ(redacted("d/EFGH- is too short", key), "d/EFGH- is too short");
  EXPECT_EQ(redacted("SK-ABCD/efgh-1234%56", key), "[key]");
  EXPECT_EQ(redacted("sk-ab***h-1234%56", key), "[key]***[key]");
  EXPECT_EQ(redacted(R"(bcd\/EFG%48-12)", key), "[key]");
  EXPECT_EQ(redacted(R"(
	234%2556, h-1234%56)",
                     key),
            R"(
	234%2556, [key])");
  EXPECT_EQ(redacted("%bCD/EFGH-", key), "%[key]") << "0xBC is not a letter of a key";
  EXPECT_EQ(redacted("bcd/EFGH-1234%56sk-abcd/", key), "[key][key]");
  EXPECT_EQ(redacted("bcd/EFGH-abcd/EFGH", key), "[key][key]");
  EXPECT_EQ(redacted("bcd/EFGH-abcd/EF", key), "[key]abcd/EF") << "seven letters are left";
  // base64 of the key, of `Bearer KEY` and of a text that holds it in another place.
  EXPECT_EQ(redacted("c2stYWJjZC9FRkdILTEyMzQlNTY=", key), "[key]Y=");
  EXPECT_EQ(redacted("QmVhcmVyIHNrLWFiY2QvRUZHSC0xMjM0JTU2", key), "QmVhcmVyIH[key]");
  EXPECT_EQ(redacted("bWU6c2stYWJjZC9FRkdILTEyMzQlNTY=", key), "bWU6[key]Y=");
  EXPECT_EQ(redacted("c2stYWJjZC9FRkdILTEyMzQlNTY", key), "[key]Y") << "as URLs write it";
  // A word that is a key has no parts, and no other case.
  EXPECT_EQ(redacted("empty", "EMPTY"), "empty");
  EXPECT_EQ(redacted_body(R"({"a":"x h-1234%56","cd/efgh-":1,"b":["bcd/","EFGH"]})", key),
            R"({"[key]":1,"a":"x [key]","b":["[key]",""]})");
  EXPECT_EQ(without_whole_key("bcd/EFGH-1234", key), "bcd/EFGH-1234");
}

// Random texts of pieces of a key: what is left has no part of it, however it came.
TEST(Text, NoPartOfAKeyIsLeft) {
  const std::string key = "sk-aB3xQ9-aB3xQ9zz+T/0k";
  std::mt19937_64 random(7);
  for (int i = 0; i < 2'000; ++i) {
    std::string text;
    for (std::size_t pieces = random() % 8; pieces > 0; --pieces) {
      const std::size_t begin = random() % key.size();
      std::string piece = key.substr(begin, 1 + random() % 16);
      const std::uint64_t how = random() % 8;
      if (how == 0) piece += "..";
      if (how == 1) piece += "\\";
      if (how == 2) piece = "%";
      for (char& c : piece) {
        if (how >= 6) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
      }
      text += piece;
    }
    const std::string left = redacted(text, key);
    EXPECT_EQ(left.find("[key]") != left.npos, left != text) << text;
    for (std::size_t at = 0; at + kPartLetters <= key.size(); ++at) {
      const std::string part = key.substr(at, kPartLetters);
      const auto same = [](char a, char b) { return std::tolower(a) == std::tolower(b); };
      EXPECT_EQ(std::search(left.begin(), left.end(), part.begin(), part.end(), same), left.end())
          << text << " became " << left;
    }
    LiveRedactor live(key);
    std::string shown;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t size = 1 + random() % 5;
      shown += live.feed(std::string_view(text).substr(at, size));
      at += size;
    }
    EXPECT_EQ(shown + live.finish(), left) << text;
  }
}

// In time that grows with the text: each of these would take minutes otherwise.
TEST(Text, ManyPartsOfKeysAreTakenOut) {
  const std::string key = "sk-abcdefgh-sijklmno";
  std::string chained;  // each part begins with the letter that the one before it ends with
  for (int i = 0; i < 200'000; ++i) chained += "k-abcdefgh-";
  EXPECT_LT(redacted(chained, key).size(), chained.size());
  const std::string same(40, 'a');
  for (const auto& [letters, of] : {std::pair(chained, key), {std::string(100'000, 'a'), same}}) {
    LiveRedactor live(of);
    std::size_t shown = 0;
    for (std::size_t at = 0; at < letters.size(); at += 10) {
      shown += live.feed(std::string_view(letters).substr(at, 10)).size();
    }
    EXPECT_LT(shown + live.finish().size(), letters.size());
  }
  const std::string longest(4096, 'k');
  EXPECT_EQ(redacted_body("[" + std::string(1'000'000, ' ') + "]", longest).size(), 1'000'002U);
  std::string list = "[\"12345678\"";
  for (int i = 0; i < 200'000; ++i) list += ",\"12345678\"";
  list += "]";
  EXPECT_EQ(redacted_body(list, std::string(4'090, 'k') + "-key"), list);
}

// However a text comes in pieces, what is shown is what the whole text would be.
TEST(Text, KeysAreTakenOutWhileTheyCome) {
  const std::string key = "sk-ab/SECRET";
  for (const std::string text :
       {"a sk-ab/SECRET b", "sk-ab/SECRETsk-ab/SECRET", "x sk-ab/SE, sk-a y", "task-ab is no key",
        R"(\u0073k-ab\/SECRET %73k-ab%2FSECRET \\\\s)", "sk-ask-ab/SECRET", "the end sk-ab/S",
        "task-ab", "100% \\ %7", R"(\n \nsk-ab\n)", "sk-ab/SECRE\xC3\xA9",
        "s\u00ADk-ab/\u200BSECRE\u200BT, sk-ab\u200B \u00E9", R"(sk\u00ad-ab/SEC\\u200bRET)"}) {
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
  EXPECT_EQ(redactor.feed("hello you!"), "hello you!") << "what is no key is not held back";
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
