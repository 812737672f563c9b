// Statements of mappings are written in lib/edit alone, and the rule itself against fake trees.
#include "architecture/statements.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "architecture/fake_tree.h"

namespace groma::architecture {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::vector<HoldsStatements> kAllowed = {
    // The language itself, below lib/edit.
    {"lib/syntax/dump.cc", "prints the tree as nested lists"},
    {"lib/syntax/parser_statements.cc", "corrects a missing word"},
    {"lib/syntax/printer.cc", "the formatter"},
    {"lib/program/compile.cc", "quotes the language in messages"},
    // Texts for language models, and one that is read.
    {"lib/llm/check.cc", "asks a language model to repeat a statement"},
    {"lib/model/card.cc", "the reference card of the language"},
    {"lib/propose/evolve.cc", "an example in a prompt"},
    {"lib/guide/forms.cc", "finds the name of a function in a sentence"},
};

TEST(Statements, AreWrittenInOnePlace) {
  for (const std::string& violation : check_statements(GROMA_SOURCE_DIR, kAllowed)) {
    ADD_FAILURE() << violation;
  }
}

TEST(Statements, AreFoundInStrings) {
  FakeTree tree;
  tree.write("lib/edit/a.cc", "text = fmt::format(\"Task {} {}\", a, b);\n");
  tree.write("lib/guide/a.cc",
             "// \"Task * GPU\" in a comment\n"
             "text = \"Task \" + name;\n"
             "text = \"# A comment.\\nLayout * * * SOA\";\n"
             "text = \"write `Region * * \" + kind;\n"
             "text = \"def {}(Task task)\";\n"
             "text = \"Layout statements may contradict it; `Layout` and Task alone may not\";\n");
  tree.write("lib/llm/a.cc", "text = \"Task * GPU;\";\n");
  EXPECT_THAT(
      check_statements(tree.root(), {{"lib/llm/a.cc", "example"}, {"lib/guide/b.cc", "example"}}),
      ElementsAre(HasSubstr("lib/guide/a.cc writes a statement outside of lib/edit: \"Task \""),
                  HasSubstr("Layout * * * SOA"), HasSubstr("Region * * "), HasSubstr("def {}"),
                  "no code of lib/guide/b.cc needs its exception"));
}

}  // namespace
}  // namespace groma::architecture
