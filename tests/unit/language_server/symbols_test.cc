// Which names mean the same, and which new names are refused.
#include "language_server/symbols.h"

#include <gtest/gtest.h>

#include <string>

#include "groma/dsl_files.h"
#include "groma/program.h"
#include "syntax/parser.h"

namespace groma::language_server {
namespace {

Symbols symbols_in(const Source& source) {
  Diagnostics diags(source);
  return find_symbols(syntax::parse(source, diags));
}

// Renames the name at the `number`-th place where `word` stands. Returns the new text, or the
// problem.
std::string renamed(const std::string& text, const std::string& word, int number,
                    const std::string& name) {
  std::size_t at = text.find(word);
  for (; number > 0; --number) at = text.find(word, at + 1);
  const Source source("a.mapper", text);
  const Symbols symbols = symbols_in(source);
  const Occurrence* found = symbols.at(at);
  if (found == nullptr) return "no name";
  const Renaming renaming = rename_symbol(source, symbols, *found, name);
  if (!renaming.problem.empty()) return renaming.problem;
  std::string made = text;
  for (auto place = renaming.places.rbegin(); place != renaming.places.rend(); ++place) {
    made.replace(place->begin, place->end - place->begin, renaming.text);
  }
  return made;
}

TEST(Symbols, AVariableMeansTheGlobalBeforeItsFirstAssignment) {
  const std::string text = "m = 1\ndef f(a) {\n  m = m + a;\n  return m;\n}\nx = m\n";
  EXPECT_EQ(renamed(text, "m =", 0, "g"),
            "g = 1\ndef f(a) {\n  m = g + a;\n  return m;\n}\nx = g\n");
  EXPECT_EQ(renamed(text, "m =", 1, "v"),
            "m = 1\ndef f(a) {\n  v = m + a;\n  return v;\n}\nx = m\n");
}

TEST(Symbols, TheVariableOfAComprehensionIsItsOwn) {
  const std::string text = "i = (1, 2)\nx = tuple(i * 2 for i in i)\n";
  EXPECT_EQ(renamed(text, "i", 0, "t"), "t = (1, 2)\nx = tuple(i * 2 for i in t)\n");
  EXPECT_EQ(renamed(text, "i * 2", 0, "k"), "i = (1, 2)\nx = tuple(k * 2 for k in i)\n");
}

TEST(Symbols, TasksAndRegionsAreQuotedIfNecessary) {
  const std::string text = "Task a, b GPU\nRegion a a GPU FBMEM\n";
  EXPECT_EQ(renamed(text, "a,", 0, "two words"),
            "Task \"two words\", b GPU\nRegion \"two words\" a GPU FBMEM\n");
  EXPECT_EQ(renamed(text, "a GPU", 0, "x.y"), "Task a, b GPU\nRegion a \"x.y\" GPU FBMEM\n");
}

TEST(Symbols, NamesThatWouldMeanSomethingElseAreRefused) {
  const std::string text = "m = 1\ndef f(a) {\n  return m + a;\n}\nx = f(m)\n";
  for (const std::string name : {"m", "GPU", "1", "two words", "", "a.b"}) {
    EXPECT_NE(renamed(text, "a)", 0, name).find('`'), std::string::npos) << name;
  }
  EXPECT_NE(renamed(text, "f(", 0, "x").find('`'), std::string::npos);
  EXPECT_EQ(renamed("Task * GPU", "GPU", 0, "x"), "no name");
}

// A renamed program decides the same as before, so it has no new diagnostics.
TEST(Symbols, EveryNameOfTheExamplesCanBeRenamed) {
  for (const DslFile& file : mappers()) {
    const Source source(std::string(file.name), std::string(file.text));
    const Symbols symbols = symbols_in(source);
    Diagnostics before(source);
    compile(source, before);
    for (const Occurrence& each : symbols.occurrences) {
      const Renaming renaming = rename_symbol(source, symbols, each, "a_new_name");
      ASSERT_EQ(renaming.problem, "") << file.name;
      std::string made(source.text());
      for (auto place = renaming.places.rbegin(); place != renaming.places.rend(); ++place) {
        made.replace(place->begin, place->end - place->begin, renaming.text);
      }
      const Source after(source.name(), made);
      Diagnostics diags(after);
      compile(after, diags);
      EXPECT_EQ(diags.all().size(), before.all().size()) << file.name << "\n" << made;
    }
  }
}

}  // namespace
}  // namespace groma::language_server
