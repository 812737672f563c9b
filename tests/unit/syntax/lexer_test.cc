#include "syntax/lexer.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "syntax/token.h"

namespace groma::syntax {
namespace {

struct Lexed {
  std::string tokens;  // their texts, `~` before those that begin a line, `!` after errors
  std::string ids;     // of the diagnostics
  std::vector<std::string> comments;  // `^` before those on a line of their own
};

Lexed lexed(const std::string& text) {
  const Source source("test", text);
  Diagnostics diags(source);
  std::vector<SourceComment> comments;
  Lexer lexer(source, diags, &comments);
  Lexed result;
  for (Token token = lexer.next_token(); token.kind != TokenKind::kEnd;
       token = lexer.next_token()) {
    if (!result.tokens.empty()) result.tokens += ' ';
    if (token.line_start) result.tokens += '~';
    result.tokens += source.text(token.range);
    if (token.kind == TokenKind::kError) result.tokens += '!';
  }
  for (const Diagnostic& diagnostic : diags.sorted()) {
    result.ids += fmt::format("{}{}", result.ids.empty() ? "" : " ", name_of(diagnostic.id));
  }
  for (const SourceComment& comment : comments) {
    result.comments.push_back((comment.own_line ? "^" : "") +
                              std::string(source.text(comment.range)));
  }
  return result;
}

TEST(Lexer, SplitsTextIntoTokens) {
  const std::pair<const char*, const char*> rows[] = {
      {"", ""},
      {" \t\r\a\n", ""},
      {"Task foo GPU;", "~Task foo GPU ;"},
      {"a\nb c\n\n  d", "~a ~b c ~d"},
      {"a.b::c:d", "~a . b :: c : d"},
      {"a:::b", "~a :: : b"},
      {"<=<>=> ==!=!&&||=", "~<= < >= > == != ! && || ="},
      {"===", "~== ="},
      {"a+b-c*d/e%f?g", "~a + b - c * d / e % f ? g"},
      {"()[]{},;", "~( ) [ ] { } , ;"},
      {"x1 _ __a A9_", "~x1 _ __a A9_"},
      {"0 007 9223372036854775808", "~0 007 9223372036854775808"},
      {"1.len 1 .5", "~1 . len 1 . 5"},
      {"Tasks intx for_ IN", "~Tasks intx for_ IN"},
      {R"("" "a b" "a\"b" "a\\" "\n")", R"(~"" "a b" "a\"b" "a\\" "\n")"},
      {"\"gr\xC3\xBC\xC3\x9F\xE6\x97\xA5\xF0\x9F\x98\x80\"",
       "~\"gr\xC3\xBC\xC3\x9F\xE6\x97\xA5\xF0\x9F\x98\x80\""},
      {"\"# no // comment\"", "~\"# no // comment\""},
      {"\xEF\xBB\xBFTask", "~Task"},
      {"a\r\nb", "~a ~b"},
  };
  for (const auto& [text, tokens] : rows) {
    const Lexed result = lexed(text);
    EXPECT_EQ(result.tokens, tokens) << text;
    EXPECT_EQ(result.ids, "") << text;
  }
}

TEST(Lexer, ReportsWhatIsNoToken) {
  struct Row {
    const char* text;
    const char* tokens;
    const char* ids;
  };
  const Row rows[] = {
      {"a @ b", "~a @! b", "unexpected-character"},
      {"a @@@ b", "~a @@@! b", "unexpected-character"},
      {"a @$ b", "~a @! $! b", "unexpected-character unexpected-character"},
      {"a & b | c", "~a &! b |! c", "unexpected-character unexpected-character"},
      {"a &&& b", "~a && &! b", "unexpected-character"},
      {"'a' 'b", "~'a'! '! b", "unexpected-character unexpected-character"},
      {"1.5 2", "~1.5! 2", "not-an-integer"},
      {"0x1F 12ab 3_000", "~0x1F! 12ab! 3_000!", "not-an-integer not-an-integer not-an-integer"},
      {"\"abc\nd", "~\"abc! ~d", "unterminated-string"},
      {"\"abc", "~\"abc!", "unterminated-string"},
      {"\"abc\\\"", "~\"abc\\\"!", "unterminated-string"},
      {"\"", "~\"!", "unterminated-string"},
      {"\xFF\xFE x", "~\xFF\xFE! x", "bad-utf8"},
      {"\"a\x80z\" b", "~\"a\x80z\"! b", "bad-utf8"},
      {"\xC0\x80 \xED\xA0\x80 \xF4\x90\x80\x80", "~\xC0\x80! \xED\xA0\x80! \xF4\x90\x80\x80!",
       "bad-utf8 bad-utf8 bad-utf8"},
      {"gr\xC3\xBC\xC3\x9F"
       "e b",
       "~gr \xC3\xBC\xC3\x9F"
       "e! b",
       "unexpected-character"},
      {"a \x01 b \x7F", "~a \x01! b \x7F!", "unexpected-character unexpected-character"},
  };
  for (const Row& row : rows) {
    const Lexed result = lexed(row.text);
    EXPECT_EQ(result.tokens, row.tokens) << row.text;
    EXPECT_EQ(result.ids, row.ids) << row.text;
  }
}

TEST(Lexer, RefusesNulBytesAndGoesOn) {
  const Lexed result = lexed(std::string("a \0 b", 5));
  EXPECT_EQ(result.tokens, std::string("~a \0! b", 7));
  EXPECT_EQ(result.ids, "unexpected-character");
}

TEST(Lexer, KeepsCommentsInOrder) {
  const Lexed result = lexed("# one \t\r\na // two\n  #three\nb / c # four // still four\n#\n//");
  EXPECT_EQ(result.tokens, "~a ~b / c");
  EXPECT_EQ(result.comments, (std::vector<std::string>{"^# one", "// two", "^#three",
                                                       "# four // still four", "^#", "^//"}));
}

TEST(Lexer, EndsForEver) {
  const Source source("test", "a");
  Diagnostics diags(source);
  Lexer lexer(source, diags, nullptr);
  EXPECT_EQ(lexer.next_token().kind, TokenKind::kName);
  for (int i = 0; i < 3; ++i) {
    const Token end = lexer.next_token();
    EXPECT_EQ(end.kind, TokenKind::kEnd);
    EXPECT_TRUE(end.line_start);
    EXPECT_EQ(end.range, (Range{1, 1}));
  }
}

// ------------------------------------------------------------------------------------ words, signs

TEST(Tokens, EveryReservedWordIsReadAsItsKind) {
  std::set<std::string_view> texts;
  for (const ReservedWord& word : reserved_words()) {
    EXPECT_TRUE(texts.insert(word.text).second) << word.text;
    const ReservedWord* found = find_reserved_word(word.text);
    ASSERT_NE(found, nullptr) << word.text;
    EXPECT_EQ(found->kind, word.kind) << word.text;
    EXPECT_EQ(found->value, word.value) << word.text;
    const Source source("test", std::string(word.text));
    Diagnostics diags(source);
    const Token token = Lexer(source, diags, nullptr).next_token();
    EXPECT_EQ(token.kind, word.kind) << word.text;
    EXPECT_EQ(token.value, word.value) << word.text;
  }
}

TEST(Tokens, NearlyReservedWordsAreFree) {
  for (const ReservedWord& word : reserved_words()) {
    const std::string text(word.text);
    for (const std::string& near :
         {text + "x", "x" + text, text + "_", text.substr(1), text + text}) {
      EXPECT_EQ(find_reserved_word(near), nullptr) << near;
    }
  }
}

TEST(Tokens, EverySignIsSpelledAsItIsRead) {
  for (int i = static_cast<int>(TokenKind::kPlus); i <= static_cast<int>(TokenKind::kRightBracket);
       ++i) {
    const auto kind = static_cast<TokenKind>(i);
    const Source source("test", std::string(spelling_of(kind)));
    Diagnostics diags(source);
    EXPECT_EQ(Lexer(source, diags, nullptr).next_token().kind, kind) << spelling_of(kind);
  }
  EXPECT_EQ(spelling_of(TokenKind::kName), "");
}

TEST(Tokens, StatementsConstraintsAndTypesAreSpelledAsWords) {
  EXPECT_EQ(spelling_of(StatementKind::kInstanceLimit), "InstanceLimit");
  EXPECT_EQ(spelling_of(StatementKind::kReturn), "return");
  EXPECT_EQ(spelling_of(ConstraintWord::kNoAlign), "No_Align");
  EXPECT_EQ(spelling_of(ParamType::kMSpace), "MSpace");
  EXPECT_EQ(spelling_of(ParamType::kTask), "Task");
  EXPECT_EQ(spelling_of(ParamType::kAny), "");
}

TEST(Strings, ValuesAndQuotingAreInverse) {
  for (const char* value : {"", "a b", "\"", "\\", "\\\"", "a\\n", "\\\\", "gr\xC3\xBC\xC3\x9F"}) {
    EXPECT_EQ(unescape_string(quote_string(value)), value);
    EXPECT_EQ(lexed(quote_string(value)).ids, "") << value;
  }
  EXPECT_EQ(quote_string("a\"b\\c"), R"("a\"b\\c")");
  EXPECT_EQ(unescape_string(R"("a\nb\"c\\")"), R"(a\nb"c\)");
}

}  // namespace
}  // namespace groma::syntax
