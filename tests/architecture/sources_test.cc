// Every source of ours is built, and the rule itself against a fake tree.
#include "architecture/sources.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "architecture/fake_tree.h"

namespace groma::architecture {
namespace {

using ::testing::ElementsAre;

TEST(Sources, AllAreBuilt) {
  for (const std::string& violation : check_sources(GROMA_SOURCE_DIR)) {
    ADD_FAILURE() << violation;
  }
}

TEST(Sources, FindsFilesThatNobodyBuilds) {
  FakeTree tree;
  tree.write("lib/CMakeLists.txt", "add(core\n  base/box.cc\n  base/kinds.cc)\n");
  tree.write("lib/base/box.cc", "");
  tree.write("lib/base/kinds.cc", "");
  tree.write("lib/base/x.cc", "");
  tree.write("tests/CMakeLists.txt", "groma_add_test(base SOURCES unit/base/kinds_test.cc)");
  tree.write("tests/unit/base/kinds_test.cc", "");
  tree.write("tests/unit/syntax/kinds_test.cc", "");
  tree.write("tests/fuzz/CMakeLists.txt", "groma_add_fuzzer(source LIBRARIES groma::core)");
  tree.write("tests/fuzz/source_fuzzer.cc", "");
  tree.write("tests/fuzz/machine_fuzzer.cc", "");
  tree.write("tests/package/use_core.cc", "");
  EXPECT_THAT(check_sources(tree.root()),
              ElementsAre("lib/base/x.cc stands in no CMakeLists.txt",
                          "tests/fuzz/machine_fuzzer.cc stands in no CMakeLists.txt",
                          "tests/unit/syntax/kinds_test.cc stands in no CMakeLists.txt"));
}

}  // namespace
}  // namespace groma::architecture
