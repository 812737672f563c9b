// The library decides nothing by the words of its own messages, and the rule itself against fake
// trees.
#include "architecture/prose.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "architecture/fake_tree.h"

namespace groma::architecture {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// What lib/ and examples/ may read. Text that our own code made for people is not among it: pass an
// enum, an id or typed arguments instead.
const std::vector<ForeignText> kForeign = {
    // Words of the Language Server Protocol.
    {"lib/language_server/language_server.cc", "$/cancelRequest", "the protocol"},
    // Files that only read what other programs print.
    {"lib/guide/printed_lines.cc", "", "the user's program"},
    {"lib/guide/results.cc", "", "Realm's logger"},
    {"lib/guide/scanner.cc", "", "Legion and compilers"},
    {"lib/legion_run/log_lines.cc", "", "the log of mapper calls, in Legion's format"},
    {"lib/legion_run/mapper_log.cc", "", "the log of mapper calls, in Legion's format"},
    {"lib/io/json.cc", "", "nlohmann::json"},
    {"lib/llm/chat_format.cc", "", "a server of a language model"},
    // C++ and the mapping language.
    {"lib/emit/cpp_expression.cc", "Int", "C++ type"},
    {"lib/emit/expressions.cc", "for ", "mapping language"},
    {"lib/emit/expressions.cc", " in", "mapping language"},
    {"lib/emit/parts.cc", "", "C++"},
    {"lib/guide/advice.cc", "% ", "mapping language"},
    {"lib/guide/metric_advice.cc", "Machine(", "mapping language"},
    {"lib/guide/forms.cc", "`def ", "mapping language, within a sentence"},
    {"lib/llm/check.cc", "Task * GPU;", "a language model's answer, in the mapping language"},
    {"lib/syntax/printer.cc", ", ", "mapping language"},
    {"lib/model/answer.cc", "Machine", "a language model's answer, in the mapping language"},
    {"lib/propose/marked_lines.cc", "groma: one of", "the marks in a user's file"},
    {"lib/edit/text_files.cc", "groma: file ", "the lines between files, which a reply may have"},
    {"lib/model/excerpt.cc", "for (", "the source of a kernel"},
    {"lib/tune/worker_shell.cc", "missing ", "a shell on another computer"},
    {"lib/tune/worker_shell.cc", "ready /", "a shell on another computer"},
    // The mark at the beginning of a page, which is written for this comparison.
    {"lib/search_report/page.cc", "<!doctype html>\\n", "the beginning of a page"},
    {"lib/search_report/page.cc", "<!-- groma report -->\\n", "the mark of a page"},
    // Single texts.
    {"examples/driver/completion.cc", ". ", "the end of a sentence"},
    {"examples/driver/serve_calls.cc", "Run with --help", "CLI11"},
    {"lib/guide/guide.cc", "}: ", "Realm's logger"},
    {"lib/guide/rules.cc", R"(\\ )", "RE2, which quotes a space so"},
    {"lib/legion_run/explain_log.cc", "SoA", "the log of mapper calls"},
    {"lib/legion_run/explain_log.cc", "AoS", "the log of mapper calls"},
    {"lib/legion_run/announcements.cc", "groma: mapped by ",
     "the preloaded library, another process"},
    {"lib/legion_run/announcements.cc", "groma: not mapped: ", "the preloaded library"},
    {"lib/legion_run/announcements.cc", "groma: records, ", "the preloaded library"},
    {"lib/legion_run/announcements.cc", "groma: the first process records",
     "the preloaded library"},
    {"lib/legion_run/run_program.cc", "elapsed ", "the user's program"},
    {"lib/legion_run/run_program.cc", R"( ms\n)", "the user's program"},
    {"lib/io/local.cc", "OpenCL", "hwloc"},
    {"lib/legion/run_events.cc", "Legion programs that ended before the last",
     "the recording of another process, whose key it is"},
};

TEST(Prose, NothingIsDecidedByOurOwnWords) {
  for (const std::string& violation : check_prose(GROMA_SOURCE_DIR, kForeign)) {
    ADD_FAILURE() << violation;
  }
}

TEST(Prose, FindsSearchesAndComparisons) {
  FakeTree tree;
  tree.write(
      "lib/guide/a.cc",
      "#include \"a b.h\"\n"
      "constexpr std::string_view kHead = \"while `\";\n"
      "bool f(std::string_view text) {\n"
      "  // text.find(\"in a comment\") and that's it\n"
      "  return text.starts_with(\"Else \") || text == \"silent.\" ||\n"
      "         \"Move\" == text || text != \"a \"\n \"b\" || text.find(kHead) == text.npos;\n"
      "}\n"
      "static const RE2 kOurs(R\"x(^no (room)\")x\");\n");
  tree.write("examples/driver/b.h", "const bool is = rule.ends_with(\" GPU \") && n == 1'000;\n");
  EXPECT_THAT(check_prose(tree.root(), {}),
              ElementsAre("lib/guide/a.cc searches for or compares with \"Else \"",
                          "lib/guide/a.cc searches for or compares with \"silent.\"",
                          "lib/guide/a.cc searches for or compares with \"Move\"",
                          "lib/guide/a.cc searches for or compares with \"a b\"",
                          "lib/guide/a.cc searches for or compares with \"while `\"",
                          "lib/guide/a.cc searches for or compares with \"^no (room)\"\"",
                          "examples/driver/b.h searches for or compares with \" GPU \""));
}

TEST(Prose, LeavesWordsAndSignsAlone) {
  FakeTree tree;
  tree.write("lib/io/a.cc",
             "bool f(std::string_view text) {\n"
             "  const char c = '\"';\n"
             "  const std::string said = \"made for people\";\n"
             "  return text.ends_with(\".json\") || text == \"error\" || text.find(said) == 0 ||\n"
             "         text.find(\"OMPI_RANK\") == 0 || text == \"...\" || text[0] == c;\n"
             "}\n");
  EXPECT_THAT(check_prose(tree.root(), {}), IsEmpty());
}

TEST(Prose, AnExceptionNamesAFileAndMustBeNeeded) {
  FakeTree tree;
  tree.write("lib/io/a.cc", "bool is = text.find(\"no room\") == 0;\n");
  tree.write("lib/io/b.cc", "bool is = text.find(\"no room\") == 0;\n");
  EXPECT_THAT(check_prose(tree.root(), {{"lib/io/a.cc", "no room", "Legion"},
                                        {"lib/io/b.cc", "", "Legion"},
                                        {"lib/io/b.cc", "full", "Legion"},
                                        {"lib/io/c.cc", "", "Legion"}}),
              ElementsAre("no code of lib/io/b.cc needs the exception \"full\"",
                          "no code of lib/io/c.cc needs the exception \"\""));
}

}  // namespace
}  // namespace groma::architecture
