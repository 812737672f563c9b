// Our catalogue of diagnostics against the tree, and the rule itself against fake trees.
#include "architecture/catalogue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "architecture/fake_tree.h"

namespace groma::architecture {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::string_view kCatalogue =
    "// GROMA_DIAGNOSTIC(enumerator, id, severity, message)\n"
    "GROMA_DIAGNOSTIC(kUnknownName, \"unknown-name\", kError, \"nothing is named `{}`\")\n"
    "GROMA_DIAGNOSTIC(\n    kOverflow, \"overflow\", kError, \"{}\")\n";

void write_good_tree(FakeTree* tree) {
  tree->write("include/groma/catalogue.inc", kCatalogue);
  tree->write("lib/program/check.cc", "report(DiagId::kUnknownName, range);");
  tree->write("examples/driver/main.cc", "report(DiagId::kOverflow);");
  tree->write("docs/diagnostics.md",
              "# Diagnostics\n## How to read\n## overflow\n## unknown-name\n");
  tree->write("tests/language/errors/a.mapper", "x # expect-error@+0:1 [unknown-name] nothing\n");
  tree->write("tests/unit/mapper/a_test.cc", "\"... [overflow]\"");
}

TEST(Catalogue, EveryDiagnosticIsReportedExplainedAndTested) {
  for (const std::string& violation : check_catalogue(GROMA_SOURCE_DIR)) {
    ADD_FAILURE() << violation;
  }
}

TEST(Catalogue, AGoodTreeHasNoViolations) {
  FakeTree tree;
  write_good_tree(&tree);
  EXPECT_THAT(check_catalogue(tree.root()), IsEmpty());
}

TEST(Catalogue, FindsWhatIsMissing) {
  FakeTree tree;
  write_good_tree(&tree);
  tree.write("lib/program/check.cc", "report(DiagId::kUnknownNameOfTask);");
  tree.write("docs/diagnostics.md", "## unknown-name\n### overflow\n");
  tree.write("tests/unit/mapper/a_test.cc", "[overflow-check]");
  EXPECT_THAT(check_catalogue(tree.root()), ElementsAre(HasSubstr("unknown-name is never reported"),
                                                        HasSubstr("overflow is not explained"),
                                                        HasSubstr("overflow is not tested")));
}

TEST(Catalogue, FindsNamesThatStandTwiceAndPagesOfNothing) {
  FakeTree tree;
  write_good_tree(&tree);
  tree.write("include/groma/catalogue.inc",
             std::string(kCatalogue) + "GROMA_DIAGNOSTIC(kOverflow, \"overflow\", kError, \"\")\n");
  tree.write("docs/diagnostics.md", "## overflow\n## unknown-name\n## old-name\n");
  EXPECT_THAT(check_catalogue(tree.root()),
              ElementsAre("kOverflow stands twice", "overflow stands twice",
                          HasSubstr("explains old-name, which does not exist")));
}

TEST(Catalogue, NoCatalogueIsAViolation) {
  FakeTree tree;
  EXPECT_THAT(check_catalogue(tree.root()), ElementsAre(HasSubstr("declares nothing")));
}

}  // namespace
}  // namespace groma::architecture
