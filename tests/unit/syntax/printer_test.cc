// The formatter: what it writes, and what it keeps of any text: the tree, every comment once and in
// order, itself.
#include "syntax/printer.h"

#include <gtest/gtest.h>

#include <random>
#include <span>
#include <string>
#include <vector>

#include "groma/syntax.h"
#include "support/files.h"
#include "support/grammar_sentences.h"
#include "syntax/parser.h"

namespace groma::syntax {
namespace {

struct Formatted {
  bool ok = false;
  std::string text, dump, messages;
  std::vector<std::string> comments;  // of what was formatted
};

Formatted formatted(const std::string& text) {
  const Source source("test", text);
  Diagnostics diags(source);
  const Tree tree = parse(source, diags, true);
  if (diags.has_errors()) return {false, "", "", render(diags), {}};
  Formatted result{true, print_tree(tree), dump_tree(tree), "", {}};
  for (const SourceComment& comment : tree.comments) {
    result.comments.emplace_back(source.text(comment.range));
  }
  return result;
}

// Formats `text` and holds the result to all that the formatter promises.
void expect_kept(const std::string& text) {
  const Formatted once = formatted(text);
  ASSERT_TRUE(once.ok) << text << "\n" << once.messages;
  const Formatted again = formatted(once.text);
  ASSERT_TRUE(again.ok) << "text:\n" << text << "\nformatted:\n" << once.text << again.messages;
  EXPECT_EQ(again.dump, once.dump) << "text:\n" << text << "\nformatted:\n" << once.text;
  EXPECT_EQ(again.comments, once.comments) << "text:\n" << text << "\nformatted:\n" << once.text;
  EXPECT_EQ(again.text, once.text) << "not idempotent:\n" << text;
}

// ------------------------------------------------------------------------------------ the one
// style

struct FormattedRow {
  const char* text;
  const char* formatted;
};

void expect_formatted(std::span<const FormattedRow> rows) {
  for (const FormattedRow& row : rows) {
    const Formatted result = formatted(row.text);
    EXPECT_TRUE(result.ok) << row.text << "\n" << result.messages;
    EXPECT_EQ(result.text, row.formatted) << row.text;
    expect_kept(row.text);
  }
}

TEST(Printer, WritesTheOneStyle) {
  const FormattedRow rows[] = {
      {"Task a,b   GPU,CPU", "Task a, b GPU, CPU;\n"},
      {"Task ns :: t GPU;Task\"x y\"CPU", "Task ns::t GPU;\nTask \"x y\" CPU;\n"},
      {"Region * *GPU FBMEM,ZCMEM", "Region * * GPU FBMEM, ZCMEM;\n"},
      {"Region f 00,r * SYSMEM;", "Region f 0, r * SYSMEM;\n"},
      {"Layout * * *\n SOA\n Align == 064;", "Layout * * * SOA Align==64;\n"},
      {"InstanceLimit f GPU 007", "InstanceLimit f GPU 7;\n"},
      {"InstanceLimit f GPU 7   SAME_NODE", "InstanceLimit f GPU 7 SAME_NODE;\n"},
      {"InstanceLimit *  7\nMachine", "InstanceLimit * 7 Machine;\n"},
      {"CollectMemory f *", "CollectMemory f *;\n"},
      {"IndexTaskMap a,b f;SingleTaskMap CPU g", "IndexTaskMap a, b f;\nSingleTaskMap CPU g;\n"},
      {"ControlReplicate *; TaskSteal f GPU ANY_NODE",
       "ControlReplicate *;\nTaskSteal f GPU ANY_NODE;\n"},
      {"x=1;y=true;z=false", "x = 1;\ny = True;\nz = False;\n"},
      {"print ( \"{}\" ,1 )", "print(\"{}\", 1);\n"},
      {"def f(Task t,int a){return t}", "def f(Task t, int a) {\n  return t;\n}\n"},
      {"def f(Task t):\n\treturn t", "def f(Task t) {\n  return t;\n}\n"},
      {"def f(){}", "def f() {\n}\n"},
      {"\n\n\nx = 1;\n\n\n\ny = 2;\nz = 3;\n\n", "x = 1;\n\ny = 2;\nz = 3;\n"},
      {"def f() {\n\n\n  a = 1;\n\n\n  return a;\n\n}\n",
       "def f() {\n  a = 1;\n\n  return a;\n}\n"},
      {"x = 1;\r\n\r\ny = 2;\r\n", "x = 1;\n\ny = 2;\n"},
      {"\xEF\xBB\xBFx = 1", "x = 1;\n"},
      {"", ""},
  };
  expect_formatted(rows);
}

TEST(Printer, WritesExpressionsWithTheirOwnParenthesesOnly) {
  const FormattedRow rows[] = {
      {"x=a+b*c-d", "x = a + b * c - d;\n"},
      {"x=(a+b)*c", "x = (a + b) * c;\n"},
      {"x=((a))", "x = ((a));\n"},
      {"x=a-(b-c)", "x = a - (b - c);\n"},
      {"x=- - a+!b", "x = --a + !b;\n"},
      {"x=-(a+b)", "x = -(a + b);\n"},
      {"x=a?b:c?d:e", "x = a ? b : c ? d : e;\n"},
      {"x=(a?b:c)?d:e", "x = (a ? b : c) ? d : e;\n"},
      {"x=( )", "x = ();\n"},
      {"x=(a,)", "x = (a,);\n"},
      {"x=(a,b,)", "x = (a, b);\n"},
      {"x=( * a )", "x = (*a);\n"},
      {"x=(*a,)", "x = (*a);\n"},
      {"x=m [ 1 , * , * t ]", "x = m[1, *, *t];\n"},
      {"x=t[ : ];y=t[a : ];z=t[ :-1]", "x = t[:];\ny = t[a:];\nz = t[:-1];\n"},
      {"x=m . split ( 0 , 2 ) . size", "x = m.split(0, 2).size;\n"},
      {"x=m.decompose(0,t,halo = (1,2))", "x = m.decompose(0, t, halo=(1, 2));\n"},
      {"x=tuple ( i*2 for i in t )", "x = tuple(i * 2 for i in t);\n"},
      {"x=a\n+b\n*c", "x = a + b * c;\n"},
      {"x=m[\n0,\n1\n]", "x = m[0, 1];\n"},
      {"x=007", "x = 7;\n"},
  };
  expect_formatted(rows);
}

TEST(Printer, WritesAnExpressionAlone) {
  const Source source("test", "x = a+f( *t,1 )[0 : 2]; # note");
  Diagnostics diags(source);
  const Tree tree = parse(source, diags, true);
  const auto& assign = std::get<AssignStatement>(tree.statements[0].node);
  EXPECT_EQ(print_tree(tree, assign.value), "a + f(*t, 1)[0:2]");
}

// ------------------------------------------------------------------------------------ comments

TEST(Printer, LeavesCommentsWhereTheyBelong) {
  const FormattedRow rows[] = {
      {"# a\n  // b\n\n\n# c\nx = 1\n# d", "# a\n// b\n\n# c\nx = 1;\n# d\n"},
      {"x = 1 # a\ny = 2; // b", "x = 1;  # a\ny = 2;  // b\n"},
      {"def f() { # a\n# b\nx = 1 # c\n\n# d\nreturn x; # e\n# f\n} # g\n# h",
       "def f() {  # a\n  # b\n  x = 1;  # c\n\n  # d\n  return x;  # e\n  # f\n}  # g\n# h\n"},
      {"def f() # a\n{\nreturn 1 }", "def f() {  # a\n  return 1;\n}\n"},
      {"def f():\n  # a\n  return 1 # b\n# c", "def f() {\n  # a\n  return 1;  # b\n}\n# c\n"},
      {"x = 1; y = 2; # a", "x = 1;\ny = 2;  # a\n"},
      {"x = 1; def f() { return 1; } # a", "x = 1;\ndef f() {\n  return 1;\n}  # a\n"},
      {"# a\r\nx = 1 # b \r\n", "# a\nx = 1;  # b\n"},
      {"\xEF\xBB\xBF# a", "# a\n"},
      {"Task a, # a\n  b GPU", "Task a, # a\n    b GPU;\n"},
      {"x = a # a\n  + b", "x = a # a\n    + b;\n"},
  };
  expect_formatted(rows);
}

TEST(Printer, KeepsCommentsBetweenAllWords) {
  for (const char* text : {
           "Task # a\n a # b\n , # c\n b # d\n GPU # e\n , # f\n CPU # g\n ; # h\n",
           "Task a # a\n . # b\n b # c\n GPU;",
           "Region # a\n f # b\n 0 # c\n , # d\n r # e\n GPU # f\n FBMEM # g\n , # h\n SYSMEM # "
           "i\n ; # j",
           "Layout # a\n * # b\n * # c\n * # d\n SOA # e\n Align # f\n == # g\n 64 # h\n ; # i",
           "InstanceLimit # a\n f # b\n GPU # c\n 4 # d\n ; # e",
           "InstanceLimit f\n# a\n4\n# b\n;\nTask a GPU;",
           "InstanceLimit # a\n f # b\n 4 # c\n Machine # d\n ; # e",
           "CollectMemory # a\n f # b\n 0 # c\n , # d\n r # e\n ; # f",
           "IndexTaskMap # a\n f # b\n g # c\n ; # d",
           "SingleTaskMap # a\n GPU # b\n g # c\n ; # d",
           "ControlReplicate # a\n a # b\n , # c\n b # d\n ; # e",
           "TaskSteal # a\n f # b\n GPU # c\n SAME_NODE # d\n ; # e",
           "x # a\n = # b\n 1 # c\n + # d\n 2 # e\n ; # f",
           "x = a # a\n ? # b\n b # c\n : # d\n c # e\n ; # f",
           "x = - # a\n b # b\n ; # c",
           "x = ( # a\n 1 # b\n , # c\n 2 # d\n , # e\n ) # f\n ; # g",
           "x = ( # a\n ) # b\n ;",
           "x = ( # a\n a # b\n ) # c\n ;",
           "x = ( # a\n * # b\n a # c\n ) # d\n ;",
           "x = m # a\n [ # b\n * # c\n , # d\n 1 # e\n ] # f\n ; # g",
           "x = t[ # a\n 1 # b\n : # c\n 2 # d\n ] # e\n ; # f",
           "x = t[ # a\n : # b\n ] # c\n ; # d",
           "x = m # a\n . # b\n size # c\n ; # d",
           "x = f( # a\n ) # b\n ; # c",
           "x = m.decompose( # a\n 0 # b\n , # c\n halo # d\n = # e\n 1 # f\n ) # g\n ; # h",
           "x = tuple # a\n ( # b\n i # c\n for # d\n i # e\n in # f\n t # g\n ) # h\n ; # i",
           "print # a\n ( # b\n \"{}\" # c\n , # d\n 1 # e\n ) # f\n ; # g",
           "def # a\n f # b\n ( # c\n Task # d\n t # e\n , # f\n a # g\n ) # h\n { # i\n return # "
           "j\n 1"
           " # k\n ; # l\n } # m\n # n",
           "def f() { # a\n # b\n # c\n return 1; # d\n # e\n }",
           "def f(Task t) # a\n : # b\n return t # c\n # d",
       }) {
    expect_kept(text);
  }
}

// Any words of any program with a comment between them, on the line or on its own.
TEST(Printer, KeepsCommentsAnywhere) {
  testing::SentenceGenerator generator(grammar_productions(), 11);
  std::mt19937_64 random(11);
  for (int i = 0; i < 400 && !::testing::Test::HasFailure(); ++i) {
    const Source sentence("sentence", generator.sentence());
    Diagnostics diags(sentence);
    Lexer lexer(sentence, diags, nullptr);
    std::string text;
    std::uint32_t copied = 0;
    Token before{};
    for (Token token = lexer.next_token(); token.kind != TokenKind::kEnd;
         before = token, token = lexer.next_token()) {
      text += sentence.text({copied, token.range.begin});
      copied = token.range.begin;
      // At a line's start these begin a statement, whatever stood before.
      const bool begins = token.kind == TokenKind::kStatementWord && !token.line_start;
      // The words and stars of a name pattern stand together.
      const bool in_pattern = token.range.begin == before.range.end &&
                              (token.kind == TokenKind::kStar || before.kind == TokenKind::kStar);
      if (begins || in_pattern || random() % 8 != 0) continue;
      text += random() % 2 == 0 ? " # " : "\n  // ";
      text += "c" + std::to_string(text.size()) + "\n";
    }
    text += sentence.text({copied, static_cast<std::uint32_t>(sentence.text().size())});
    expect_kept(text);
  }
}

TEST(Printer, KeepsTheFilesOfTheLanguage) {
  for (const auto& file : testing::files_below("dsl", ".mapper")) {
    expect_kept(testing::read_text(file));
  }
}

TEST(Format, RefusesTextsWithErrors) {
  const Source source("test", "Task a GPUS;\n");
  Diagnostics diags(source);
  EXPECT_EQ(format(source, diags), std::nullopt);
  EXPECT_TRUE(diags.has_errors());
}

TEST(Format, FormatsTextsWithWarnings) {
  const Source source("test", "def f(Task t):\n return t\n");
  Diagnostics diags(source);
  EXPECT_EQ(format(source, diags), "def f(Task t) {\n  return t;\n}\n");
}

}  // namespace
}  // namespace groma::syntax
