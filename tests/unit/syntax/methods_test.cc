// The table of methods, and the files that list what it has: the editors' words, the fuzzers' words
// and the language's description.
#include "syntax/methods.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <string>

#include "support/files.h"

namespace groma::syntax {
namespace {

TEST(Methods, HaveNamesParametersAndWords) {
  std::set<std::string_view> names;
  for (const MethodInfo& method : kMethods) {
    EXPECT_TRUE(names.insert(method.name).second) << method.name << " stands twice";
    EXPECT_GE(method.parameter_count(), 1U) << method.name;
    EXPECT_NE(method.description, "") << method.name;
    EXPECT_NE(method.result, OperandType::kNone) << method.name;
    for (std::size_t i = 0; i < method.parameter_count(); ++i) {
      EXPECT_NE(method.parameters[i].name, "") << method.name;
    }
    if (method.receiver == OperandType::kMachine) {
      EXPECT_EQ(method.parameters[0].type, OperandType::kDimension) << method.name;
    }
  }
  EXPECT_EQ(signature_of(info_of(Method::kSlice)), "slice(d, lo, hi)");
}

// Expects that `path` has `wanted` between `begin` and `end`; GROMA_UPDATE=1 writes it there.
void expect_between(const std::string& path, const std::string& begin, const std::string& end,
                    const std::string& wanted) {
  const auto file = testing::in_tree(path);
  std::string text = testing::read_text(file);
  const std::size_t at = text.find(begin);
  ASSERT_NE(at, std::string::npos) << path << " has no " << begin;
  const std::size_t from = at + begin.size(), to = text.find(end, from);
  ASSERT_NE(to, std::string::npos) << path << " has no " << end << " behind " << begin;
  if (testing::updating()) {
    text.replace(from, to - from, wanted);
    std::ofstream(file, std::ios::binary) << text;
    return;
  }
  EXPECT_EQ(text.substr(from, to - from), wanted) << "GROMA_UPDATE=1 writes " << path;
}

// All names with `separator` between them.
std::string names(const std::string& separator) {
  std::string text;
  for (const MethodInfo& method : kMethods) {
    text += (text.empty() ? "" : separator) + std::string(method.name);
  }
  return text;
}

TEST(Methods, AreThoseOfTheEditors) {
  expect_between("dsl/editors/vscode/syntaxes/groma.tmLanguage.json",
                 "\"support.function.member.groma\",\n          \"match\": \"(?<=\\\\.)(", ")",
                 names("|"));
  expect_between("dsl/editors/vim/syntax/groma.vim", "syntax match gromaOperation   /\\.\\@1<=\\%(",
                 "\\)\\>", names("\\|"));
}

TEST(Methods, AreWordsOfTheFuzzers) {
  std::string words;
  for (const MethodInfo& method : kMethods) {
    words += '"' + std::string(method.name) + "\"\n";
    if (!method.option.empty()) words += '"' + std::string(method.option) + "\"\n";
  }
  expect_between("tests/fuzz/program.dict", "# Methods, as lib/syntax/methods.h has them.\n",
                 "# Members and signs.\n", words);
}

TEST(Methods, AreDescribedInTheLanguage) {
  std::string rows;
  for (const MethodInfo& method : kMethods) {
    if (method.receiver != OperandType::kMachine) continue;
    rows += "| `" + signature_of(method) + "` | " + std::string(method.new_extents) +
            (method.new_extents.empty() ? "| " : " | ") + std::string(method.description) + " |\n";
  }
  expect_between("docs/language.md", "| operation | new extents | |\n|---|---|---|\n",
                 "\n`balance_split`, ", rows);
}

}  // namespace
}  // namespace groma::syntax
