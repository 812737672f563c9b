// docs/design.md's tables against the tree, and the rules themselves against fake trees.
#include "architecture/includes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "architecture/fake_tree.h"

namespace groma::architecture {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::string_view kDesign = R"(
| folder of `lib/` | holds | public headers | may include |
|---|---|---|---|
| `base` | text | `source.h`, `catalogue.inc` | - |
| `syntax` | trees | `syntax.h` | base |
| `program` | tables | `program.h` | syntax |
| `machine` | nodes | `machine.h` | base |
| `mapper` | *later*: decisions | - | program, machine |

Words between.

| library | headers | used by |
|---|---|---|
| fmt | `fmt/` | all |
| hwloc | `hwloc.h` | machine |
| CLI11 | `CLI/` | driver |
)";

Violations check(const FakeTree& tree) {
  Violations violations;
  const Rules rules = parse_rules(kDesign, &violations);
  EXPECT_THAT(violations, IsEmpty());
  return check_includes(tree.root(), rules);
}

TEST(Includes, TheTreeKeepsToDesign) {
  Violations violations;
  const std::filesystem::path root = GROMA_SOURCE_DIR;
  const Rules rules = parse_rules(read_text(root / "docs" / "design.md"), &violations);
  for (const std::string& violation : violations) ADD_FAILURE() << violation;
  for (const std::string& violation : check_includes(root, rules)) ADD_FAILURE() << violation;
}

TEST(Includes, ReachIsTransitive) {
  Violations violations;
  const Rules rules = parse_rules(kDesign, &violations);
  EXPECT_THAT(rules.reach.at("mapper"),
              ElementsAre("base", "machine", "mapper", "program", "syntax"));
  EXPECT_THAT(rules.reach.at("base"), ElementsAre("base"));
  EXPECT_EQ(rules.owner.at("catalogue.inc"), "base");
}

TEST(Includes, AGoodTreeHasNoViolations) {
  FakeTree tree;
  tree.write("include/groma/source.h", "#include <string>\n");
  tree.write("include/groma/syntax.h", "#include \"groma/source.h\"\n");
  tree.write("lib/base/source.cc",
             "#include \"groma/source.h\"\n\n#include <fmt/format.h>\n#include <sys/stat.h>\n");
  tree.write("lib/mapper/map.cc", "#include \"map.h\"\n#include \"syntax/tree.h\"\n");
  tree.write("lib/machine/local.cc", "#include <hwloc.h>\n");
  tree.write("lib/CMakeLists.txt", "# no code\n");
  tree.write("examples/driver/main.cc",
             "#include <CLI/CLI.hpp>\n#include \"driver/place.h\"\n#include \"groma/syntax.h\"\n");
  EXPECT_THAT(check(tree), IsEmpty());
}

TEST(Includes, FindsAnIncludeAgainstTheArrows) {
  FakeTree tree;
  tree.write("lib/syntax/parser.cc", "  #  include \"program/program.h\"\n");
  tree.write("lib/base/source.cc", "#include \"groma/machine.h\"\n");
  EXPECT_THAT(check(tree),
              ElementsAre("lib/base/source.cc: base may not include machine: `groma/machine.h`",
                          "lib/syntax/parser.cc: syntax may not include program: "
                          "`program/program.h`"));
}

TEST(Includes, FindsOtherLibrariesWhereTheyHaveNoBusiness) {
  FakeTree tree;
  tree.write("lib/base/a.cc", "#include <hwloc.h>\n");
  tree.write("lib/base/b.cc", "#include <boost/any.hpp>\n");
  tree.write("include/groma/source.h", "#include <fmt/format.h>\n");
  EXPECT_THAT(check(tree), ElementsAre("lib/base/a.cc: base may not use hwloc: <hwloc.h>",
                                       HasSubstr("<boost/any.hpp> belongs to no library"),
                                       HasSubstr("a public header includes <fmt/format.h>")));
}

TEST(Includes, FindsPrivateHeadersInPublicPlaces) {
  FakeTree tree;
  tree.write("include/groma/syntax.h", "#include \"syntax/tree.h\"\n");
  tree.write("examples/driver/main.cc", "#include \"syntax/tree.h\"\n");
  EXPECT_THAT(
      check(tree),
      ElementsAre("include/groma/syntax.h: a public header includes the private `syntax/tree.h`",
                  "examples/driver/main.cc: the driver includes the private `syntax/tree.h`"));
}

TEST(Includes, FindsWhatTheTableDoesNotName) {
  FakeTree tree;
  tree.write("include/groma/new.h", "");
  tree.write("lib/extra/a.cc", "");
  tree.write("lib/base/a.cc", "#include \"groma/absent.h\"\n#include \"other/b.h\"\n");
  EXPECT_THAT(
      check(tree),
      ElementsAre(HasSubstr("gives `groma/absent.h` to no folder"),
                  HasSubstr("`other/b.h` is in no folder"), HasSubstr("no row for lib/extra"),
                  HasSubstr("new.h: docs/design.md gives this header to no folder")));
}

TEST(Includes, FindsTablesThatContradictThemselves) {
  Violations violations;
  parse_rules(
      "| folder of `lib/` | holds | public headers | may include |\n"
      "| `base` | x | - | - |\n"
      "| `a` | x | - | b |\n"
      "| `b` | x | - | a, c |\n"
      "| `d` | x |\n",
      &violations);
  EXPECT_THAT(violations,
              ElementsAre(HasSubstr("wrong number of cells"), HasSubstr("no table of libraries"),
                          HasSubstr("`c`"), HasSubstr("a and b may include each other"),
                          HasSubstr("b and a may include each other")));
}

}  // namespace
}  // namespace groma::architecture
