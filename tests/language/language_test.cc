// The language by files: each *.mapper below accept/, errors/ and limits/ says itself what comes of
// it (language/annotate.h). GROMA_UPDATE=1 writes the answers anew.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "groma/syntax.h"
#include "language/annotate.h"
#include "support/files.h"

namespace groma::testing {
namespace {

// The first line in which the texts differ, from both; empty when there is none.
std::string first_difference(const std::string& expected, const std::string& found) {
  std::istringstream expected_lines(expected), found_lines(found);
  std::string a, b;
  for (int number = 1;; ++number) {
    const bool more_a = static_cast<bool>(std::getline(expected_lines, a));
    const bool more_b = static_cast<bool>(std::getline(found_lines, b));
    if (!more_a && !more_b) return expected == found ? "" : "at the end of the last line";
    if (more_a != more_b || a != b) {
      return "line " + std::to_string(number) + "\n  expected: " + (more_a ? a : "the end") +
             "\n  found:    " + (more_b ? b : "the end");
    }
  }
}

// The sure fixes of a file leave none of what they fix, and bring no new error.
void expect_fixes_mend(const std::string& text) {
  const auto before = compiled(text);
  const auto after = compiled(fixed(text));
  for (const Diagnostic& diagnostic : after) {
    for (const Fix& fix : diagnostic.fixes) {
      EXPECT_FALSE(fix.sure) << "left after fixing: " << diagnostic.message << "\n" << fixed(text);
    }
    if (diagnostic.severity != Severity::kError) continue;
    const bool known = std::any_of(before.begin(), before.end(), [&](const Diagnostic& other) {
      return other.id == diagnostic.id && other.message == diagnostic.message;
    });
    EXPECT_TRUE(known) << "fixing brought: " << diagnostic.message << "\n" << fixed(text);
  }
}

// What can be formatted says the same then.
void expect_formatted_says_the_same(const std::string& text) {
  const Source source("formatted", text);
  Diagnostics diags(source);
  const auto formatted = format(source, diags);
  if (!formatted) return;
  const auto words = [](const std::string& of) {
    std::multiset<std::string> all;
    for (const Diagnostic& diagnostic : compiled(of)) {
      // The formatter writes braces, and a space before such a star.
      const bool mended =
          diagnostic.id == DiagId::kColonBody || diagnostic.id == DiagId::kSeparateStar;
      if (!mended) all.insert(diagnostic.message);
    }
    return all;
  };
  EXPECT_EQ(words(*formatted), words(text)) << *formatted;
}

class Language : public ::testing::TestWithParam<std::string> {};

TEST_P(Language, File) {
  const std::filesystem::path path = in_tree("tests/language/" + GetParam());
  const std::string text = read_text(path);
  const Annotated found = annotate(GetParam(), text);
  if (updating() && found.text != text) std::ofstream(path, std::ios::binary) << found.text;
  EXPECT_EQ(first_difference(read_text(path), found.text), "")
      << GetParam() << " is not as expected; GROMA_UPDATE=1 rewrites it";
  const std::string folder = path.parent_path().filename();
  if (folder == "accept") {
    EXPECT_EQ(found.errors, 0U) << "a file of accept/ compiles";
  }
  if (folder == "errors") {
    EXPECT_TRUE(found.any_problem) << "a file of errors/ has one";
  }
  expect_fixes_mend(without_answers(text));
  expect_formatted_says_the_same(without_answers(text));
}

std::vector<std::string> all_files() {
  std::vector<std::string> names;
  for (const auto& path : files_below("tests/language", ".mapper")) {
    names.push_back(std::filesystem::relative(path, in_tree("tests/language")).string());
  }
  return names;
}

std::string test_name(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = info.param.substr(0, info.param.rfind('.'));
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Files, Language, ::testing::ValuesIn(all_files()), test_name);

}  // namespace
}  // namespace groma::testing
