// The table of productions against the parser and the printer, both ways, and its exports.
#include "syntax/grammar.h"

#include <gtest/gtest.h>

#include <random>

#include "groma/syntax.h"
#include "program/data.h"
#include "support/files.h"
#include "support/grammar_gbnf.h"
#include "support/grammar_recogniser.h"
#include "support/grammar_sentences.h"
#include "syntax/methods.h"
#include "syntax/parser.h"
#include "syntax/printer.h"
#include "syntax/token.h"

namespace groma {
namespace {

using syntax::grammar_productions;
using syntax::Production;
using testing::Recogniser;
using testing::SentenceGenerator;

struct Parsed {
  bool ok = false;
  std::string dump, print, messages;
};

Parsed parsed(const std::string& text) {
  const Source source("sentence", text);
  Diagnostics diags(source);
  const syntax::Tree tree = syntax::parse(source, diags, true);
  if (diags.has_errors()) return {false, "", "", render(diags)};
  return {true, dump_tree(tree), print_tree(tree), render(diags)};
}

std::vector<Production> exported_gbnf() {
  std::string problem;
  std::vector<Production> table = testing::parse_gbnf(grammar(GrammarFormat::kGbnf), &problem);
  EXPECT_EQ(problem, "");
  return table;
}

// Changes `text` at one place: a character lost, doubled, exchanged with the next or for another
// one of the text.
std::string mutated(const std::string& sentence, std::mt19937_64& random) {
  std::u32string text = testing::decode_utf8(sentence);
  const auto below = [&](std::size_t bound) { return static_cast<std::size_t>(random() % bound); };
  const std::size_t at = below(text.size());
  switch (below(4)) {
    case 0:
      text.erase(at, 1 + below(6));
      break;
    case 1:
      text.insert(at, 1, text[at]);
      break;
    case 2:
      std::swap(text[at], text[(at + 1) % text.size()]);
      break;
    default:
      text[at] = text[below(text.size())];
      break;
  }
  return testing::encode_utf8(text);
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

// ------------------------------------------------------------------------------------ the table

TEST(Grammar, DefinesWhatItUsesAndUsesWhatItDefines) {
  const auto table = grammar_productions();
  EXPECT_EQ(testing::undefined(table), std::vector<std::string>());
  EXPECT_EQ(testing::left_recursive(table), std::vector<std::string>());
  EXPECT_EQ(testing::nullable(table), std::vector<std::string>());
}

TEST(Grammar, EveryProductionIsPartOfSomeSentence) {
  const auto table = grammar_productions();
  SentenceGenerator generator(table, 1);
  for (int i = 0; i < 50'000 && generator.used().size() < table.size(); ++i) generator.sentence();
  for (const Production& production : table) {
    EXPECT_TRUE(generator.used().contains(production.name)) << production.name;
  }
}

TEST(Grammar, EverySentenceParsesAndIsFormatted) {
  SentenceGenerator generator(grammar_productions(), 2);
  for (int i = 0; i < 6000; ++i) {
    const std::string sentence = generator.sentence();
    const Parsed tree = parsed(sentence);
    ASSERT_TRUE(tree.ok) << sentence << "\n" << tree.messages;
    ASSERT_EQ(tree.print, sentence);
  }
}

// Semicolons at line ends may be left out, and a program may be written in other lines.
TEST(Grammar, SentencesMeanTheSameInOtherLines) {
  SentenceGenerator generator(grammar_productions(), 7);
  for (int i = 0; i < 3000; ++i) {
    const std::string sentence = generator.sentence();
    const std::string without = replaced(sentence, ";\n", "\n");
    ASSERT_EQ(parsed(without).dump, parsed(sentence).dump) << without << parsed(without).messages;
    if (sentence.find_first_of("\"#") != std::string::npos) continue;
    if (sentence.find("//") != std::string::npos) continue;
    std::string other = sentence;
    for (const char* sign : {", ", " + ", " ? ", "(", "[", "."}) {
      other = replaced(other, sign, std::string("\n") + sign);
      other = replaced(other, sign, std::string(sign) + "\n");
    }
    ASSERT_EQ(parsed(other).dump, parsed(sentence).dump) << other << parsed(other).messages;
  }
}

TEST(Grammar, PrintedSentencesMeanTheSame) {
  SentenceGenerator generator(grammar_productions(), 3);
  for (int i = 0; i < 2000; ++i) {
    const Parsed tree = parsed(generator.sentence());
    ASSERT_TRUE(tree.ok);
    const Parsed again = parsed(tree.print);
    ASSERT_TRUE(again.ok) << tree.print << "\n" << again.messages;
    ASSERT_EQ(again.dump, tree.dump);
  }
}

TEST(Grammar, RecognisesItsSentences) {
  SentenceGenerator generator(grammar_productions(), 4);
  Recogniser recogniser(grammar_productions());
  for (int i = 0; i < 500; ++i) {
    const std::string sentence = generator.sentence();
    ASSERT_TRUE(recogniser.accepts(sentence)) << sentence << "\n>>> " << recogniser.understood();
  }
}

// What a slip of the finger leaves in the grammar is still a formatted program.
TEST(Grammar, DescribesNothingThatTheParserRefuses) {
  SentenceGenerator generator(grammar_productions(), 5);
  Recogniser recogniser(grammar_productions());
  std::mt19937_64 random(5);
  int accepted = 0;
  for (int i = 0; i < 1500; ++i) {
    const std::string text = mutated(generator.sentence(), random);
    if (!recogniser.accepts(text)) continue;
    ++accepted;
    const Parsed tree = parsed(text);
    ASSERT_TRUE(tree.ok) << text << "\n" << tree.messages;
    ASSERT_EQ(tree.print, text);
  }
  EXPECT_GT(accepted, 100);
}

TEST(Grammar, DescribesTheFormattedFilesOfTheLanguage) {
  Recogniser table(grammar_productions());
  Recogniser gbnf(exported_gbnf());
  const auto files = testing::files_below("dsl", ".mapper");
  EXPECT_GE(files.size(), 15U);
  for (const auto& file : files) {
    const Parsed tree = parsed(testing::read_text(file));
    ASSERT_TRUE(tree.ok) << file << "\n" << tree.messages;
    EXPECT_TRUE(table.accepts(tree.print)) << file << "\n>>> " << table.understood();
    EXPECT_TRUE(gbnf.accepts(tree.print)) << file << "\n>>> " << gbnf.understood();
  }
}

TEST(Grammar, KnowsTheMembersThatProgramsHave) {
  Recogniser recogniser(grammar_productions());
  for (const syntax::MethodInfo& method : syntax::kMethods) {
    const std::string name(method.name);
    EXPECT_TRUE(recogniser.accepts("." + name + "(0)", "member")) << name;
  }
  for (std::size_t i = 0; i < program::kMemberCount; ++i) {
    const std::string name(name_of(static_cast<program::Member>(i)));
    EXPECT_TRUE(recogniser.accepts("." + name, "member")) << name;
  }
  for (const Production& production : grammar_productions()) {
    const std::size_t count = production.item.items.size();
    if (production.name == "property") {
      EXPECT_EQ(count, program::kMemberCount);
    }
    // `decompose`, which takes an option, stands apart.
    if (production.name == "operation") {
      EXPECT_EQ(count, syntax::kMethods.size() - 1);
    }
  }
}

TEST(Grammar, RefusesWhatIsNotFormatted) {
  Recogniser recogniser(grammar_productions());
  EXPECT_TRUE(recogniser.accepts("Task * GPU, CPU;\n"));
  for (const char* text : {"",
                           "\n",
                           "Task * GPU",
                           "Task * GPU;",
                           "Task * GPU,CPU;\n",
                           "Task  * GPU;\n",
                           "Task * gpu;\n",
                           "Task Foo GPU;\n",
                           "Task * GPU; Task a CPU;\n",
                           "a = 1\n",
                           "a=1;\n",
                           "a = True && False\n",
                           "a = 1.5;\n",
                           "a = m.foo;\n",
                           "a = m.split;\n",
                           "a = m.size(0);\n",
                           "a = (*t,);\n",
                           "a = f(*);\n",
                           "a = t[*a:1];\n",
                           "a = true;\n",
                           "Layout * * VIRTUAL SOA;\n",
                           "Layout * * * Align==63;\n",
                           "def f(Task t):\n  return t;\n",
                           "def f(Task t) {\n}\n",
                           "def f(Task t) {\nreturn t;\n}\n",
                           "def f(Task t) {\n  a = 1;\n}\n",
                           "return 1;\n",
                           "Task a GPU;\n\n\nTask b GPU;\n",
                           "Task a GPU; # note\n",
                           "# note \n",
                           "print(1);\n"}) {
    EXPECT_FALSE(recogniser.accepts(text)) << text;
  }
}

// ------------------------------------------------------------------------------------ narrowed

GrammarNames few() {
  GrammarNames names;
  names.tasks = {"a", "Take one", "in", "a.b", "line\nend"};
  names.regions = {"rp", "Wires"};
  names.requirements = 3;
  names.processors = {ProcKind::kGpu};
  names.memories = {MemKind::kFbmem, MemKind::kVirtual};
  return names;
}

TEST(NarrowedGrammar, IsAGrammarOfProgramsToo) {
  GrammarNames names = few();
  names.regions = {"rp"};  // a name with a capital is only quoted in the whole one
  const auto table = grammar_productions(names);
  EXPECT_EQ(testing::undefined(table), std::vector<std::string>());
  EXPECT_EQ(testing::nullable(table), std::vector<std::string>());
  SentenceGenerator generator(table, 8);
  Recogniser whole(grammar_productions());
  for (int i = 0; i < 1000; ++i) {
    const std::string sentence = generator.sentence();
    const Parsed tree = parsed(sentence);
    ASSERT_TRUE(tree.ok) << sentence << "\n" << tree.messages;
    ASSERT_EQ(tree.print, sentence);
    if (i % 10 == 0) {
      ASSERT_TRUE(whole.accepts(sentence)) << sentence;
    }
  }
  // A rare production may need more sentences.
  for (int i = 0; i < 50'000 && generator.used().size() < table.size(); ++i) generator.sentence();
  for (const Production& production : table) {
    EXPECT_TRUE(generator.used().contains(production.name)) << production.name;
  }
}

TEST(NarrowedGrammar, NamesNothingElse) {
  Recogniser table(grammar_productions(few()));
  for (const char* text :
       {"Task a, \"Take one\", \"in\", \"a.b\" GPU;\n", "Task * GPU;\n", "CollectMemory a 0;\n",
        "Region a rp, Wires, 2 GPU FBMEM;\n", "Layout * * FBMEM SOA;\n",
        "def f(Task t) {\n  return Machine(GPU)[0, 0];\n}\n"}) {
    EXPECT_TRUE(table.accepts(text)) << text << "\n>>> " << table.understood();
  }
  for (const char* text :
       {"Task b GPU;\n", "Task a CPU;\n", "Task \"a\" GPU;\n", "Task rp GPU;\n",
        "CollectMemory a 3;\n", "Region a a GPU FBMEM;\n", "Region a rp GPU SYSMEM;\n",
        "Layout * * SYSMEM SOA;\n", "Layout * * CPU SOA;\n",
        "def f(Task t) {\n  return Machine(CPU)[0, 0];\n}\n"}) {
    EXPECT_FALSE(table.accepts(text)) << text;
  }
}

TEST(NarrowedGrammar, LeavesOpenWhatIsEmpty) {
  GrammarNames names;
  names.tasks = {"a"};
  names.requirements = 0;
  Recogniser table(grammar_productions(names));
  EXPECT_TRUE(table.accepts("Region a any OMP RDMEM;\n")) << table.understood();
  EXPECT_FALSE(table.accepts("Region a 0 OMP RDMEM;\n"));
  names.requirements = 1000;
  EXPECT_TRUE(Recogniser(grammar_productions(names)).accepts("Region a 999 OMP RDMEM;\n"));
}

// Of names that cannot be written none is left, not all.
TEST(NarrowedGrammar, HasNoNamesWhereNoneCanBeWritten) {
  GrammarNames names;
  names.tasks = {"line\nend"};
  names.regions = {"line\nend"};
  names.requirements = 0;
  Recogniser table(grammar_productions(names));
  EXPECT_TRUE(table.accepts("Task * CPU;\n")) << table.understood();
  EXPECT_TRUE(table.accepts("Region * * CPU SYSMEM;\n")) << table.understood();
  EXPECT_FALSE(table.accepts("Task any CPU;\n"));
  EXPECT_FALSE(table.accepts("Region * any CPU SYSMEM;\n"));
  names.requirements = 2;
  EXPECT_TRUE(Recogniser(grammar_productions(names)).accepts("Region * 1 CPU SYSMEM;\n"));
}

TEST(NarrowedGrammar, WritesBothQuotesInEbnf) {
  GrammarNames names;
  names.tasks = {"a'b\"c"};
  const std::string ebnf = grammar(GrammarFormat::kEbnf, names);
  EXPECT_NE(ebnf.find(R"(task-name = ('"a', "'b\\", '"c"') ;)"), ebnf.npos) << ebnf;
}

TEST(NarrowedGrammar, IsWrittenAsGbnf) {
  std::string problem;
  const auto table = testing::parse_gbnf(grammar(GrammarFormat::kGbnf, few()), &problem);
  EXPECT_EQ(problem, "");
  SentenceGenerator generator(grammar_productions(few()), 9);
  Recogniser gbnf(table);
  for (int i = 0; i < 100; ++i) {
    const std::string sentence = generator.sentence();
    ASSERT_TRUE(gbnf.accepts(sentence)) << sentence << "\n>>> " << gbnf.understood();
  }
}

// ------------------------------------------------------------------------------------ free names

TEST(Grammar, NoReservedWordIsAFreeName) {
  Recogniser recogniser(grammar_productions());
  for (const syntax::ReservedWord& word : syntax::reserved_words()) {
    EXPECT_FALSE(recogniser.accepts(word.text, "free-name")) << word.text;
  }
}

// Every name with a small letter or `_` first and no more than a slip away from a reserved word.
TEST(Grammar, AllOtherSmallNamesAreFreeNames) {
  Recogniser recogniser(grammar_productions());
  std::vector<std::string> names = {"mgpu", "block1d", "ip",    "task",  "m_2d", "linearize3D",
                                    "_",    "__x",     "tuple", "slice", "len",  "x",
                                    "f",    "i",       "b0",    "iN",    "in_",  "inT"};
  for (const syntax::ReservedWord& word : syntax::reserved_words()) {
    const std::string text(word.text);
    for (std::size_t i = 1; i <= text.size(); ++i) {
      for (const char* tail : {"", "0", "_", "a", "z", "Zx", "in", "int"}) {
        names.push_back(text.substr(0, i) + tail);
        names.push_back(text.substr(0, i) + tail + text.substr(i));
      }
    }
  }
  for (const std::string& name : names) {
    const bool small = name[0] == '_' || (name[0] >= 'a' && name[0] <= 'z');
    const bool free = small && syntax::find_reserved_word(name) == nullptr;
    EXPECT_EQ(recogniser.accepts(name, "free-name"), free) << name;
  }
}

// ------------------------------------------------------------------------------------ the exports

TEST(Grammar, ExportedGbnfIsWellFormed) {
  const std::string text = grammar(GrammarFormat::kGbnf);
  const auto table = exported_gbnf();
  EXPECT_EQ(table.size(), grammar_productions().size());
  EXPECT_EQ(testing::undefined(table), std::vector<std::string>());
  EXPECT_EQ(testing::left_recursive(table), std::vector<std::string>());
  EXPECT_EQ(text.find("\n|"), std::string::npos);
  EXPECT_EQ(text.find('_' + std::string(" ::=")), std::string::npos);
}

TEST(Grammar, ExportedGbnfSaysWhatTheTableSays) {
  SentenceGenerator of_table(grammar_productions(), 6), of_gbnf(exported_gbnf(), 6);
  Recogniser table(grammar_productions()), gbnf(exported_gbnf());
  std::mt19937_64 random(6);
  for (int i = 0; i < 300; ++i) {
    const std::string one = of_table.sentence(), other = of_gbnf.sentence();
    ASSERT_TRUE(gbnf.accepts(one)) << one << "\n>>> " << gbnf.understood();
    ASSERT_TRUE(table.accepts(other)) << other << "\n>>> " << table.understood();
    const std::string changed = mutated(one, random);
    ASSERT_EQ(table.accepts(changed), gbnf.accepts(changed)) << changed;
  }
}

TEST(Grammar, GbnfReaderFindsWhatIsMalformed) {
  for (const char* text :
       {"", "a ::= \"x\"\n", "root ::= \n", "root ::= \"x\n", "root ::= [a\n", "root ::= [^a]\n",
        "root ::= \"a\"\n    | \"b\"\n", "root ::= (\"a\"\n", "root ::= \"\\q\"\n",
        "root = \"a\"\n", "a_b ::= \"a\"\n", "root ::= \"a\"{0,5000}\n"}) {
    std::string problem;
    EXPECT_TRUE(testing::parse_gbnf(text, &problem).empty()) << text;
    EXPECT_NE(problem, "") << text;
  }
}

TEST(Grammar, ExportsAreTheFilesOfTheLanguage) {
  const std::pair<const char*, GrammarFormat> exports[] = {{"ebnf", GrammarFormat::kEbnf},
                                                           {"gbnf", GrammarFormat::kGbnf},
                                                           {"lark", GrammarFormat::kLark}};
  for (const auto& [extension, format] : exports) {
    const auto path = testing::in_tree(std::string("dsl/grammar/groma.") + extension);
    const std::string text = grammar(format);
    if (testing::updating()) std::ofstream(path, std::ios::binary) << text;
    EXPECT_EQ(testing::read_text(path), text) << "GROMA_UPDATE=1 writes " << path;
  }
}

}  // namespace
}  // namespace groma
