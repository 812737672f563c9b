// The ```mapper blocks of docs/: each example of diagnostics.md really gives its diagnostic, those
// of language.md and from_cpp_mapper.md compile. Comments directly before a block say how:
// `<!-- machine: p100x4 -->` and `<!-- place: --task t --domain 4 -->` as in language/annotate.h,
// `<!-- wrong -->` for a block that shows a mistake.
#include <gtest/gtest.h>

#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "language/annotate.h"
#include "support/files.h"

namespace groma::testing {
namespace {

struct Block {
  std::string section;     // the `## ` heading that it stands under
  std::string directives;  // as lines of a test file
  std::string text;
  int line = 0;
  bool wrong = false;
};

std::vector<Block> blocks_of(const std::string& page) {
  std::vector<Block> blocks;
  std::istringstream lines(read_text(in_tree(page)));
  Block next;
  bool inside = false;
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (inside && line == "```") {
      inside = false;
      blocks.push_back(next);
      next = {next.section, "", "", 0, false};
    } else if (inside) {
      next.text += line + "\n";
    } else if (line == "```mapper") {
      inside = true;
      next.line = number;
    } else if (line.starts_with("## ")) {
      next = {line.substr(3), "", "", 0, false};
    } else if (line == "<!-- wrong -->") {
      next.wrong = true;
    } else if (line.starts_with("<!-- ") && line.ends_with(" -->")) {
      next.directives += "# " + line.substr(5, line.size() - 9) + "\n";
    }
  }
  return blocks;
}

// What a block cannot show: it is about a file, an option, bytes that are no text, or thousands of
// lines. Their tests are in tests/command, errors/bad_utf8.mapper and limits_test.cc.
const std::set<std::string_view> kWithoutExample = {
    "unreadable-file", "too-many-errors", "bad-utf8", "program-too-large", "calls-too-deep",
    "unknown-machine", "bad-machine", "unknown-application", "bad-application", "unknown-task",
    "unknown-region", "matches-nothing", "never-replicated", "other-launches", "nodes-differ",
    // `groma emit` reports this one.
    "not-emitted",
    // `groma domain` reports these.
    "domain-bound", "domain-length", "domain-digits", "domain-parts", "domain-map", "domain-value",
    "domain-parameter", "domain-size", "domain-samples",
    // Mappers written by hand cause these.
    "bad-processor", "mixed-processors", "repeated-processor", "bad-variant", "missing-choice",
    "no-memory", "bad-virtual", "bad-instance", "layout-refused", "bad-slices", "bad-schedule",
    "bad-steal", "bad-collective", "bad-replication", "bad-sharding", "no-tunable", "bad-shard",
    // Runs report these.
    "cannot-run", "out-of-memory", "interfering-points", "aliased-requirements", "no-route",
    "may-not-fit", "check-incomplete",
    // Programs with a mapper of their own cause these.
    "layout-demanded", "kept-by-mapper", "variant-unknown"};

TEST(DiagnosticsPage, HasASectionForEveryIdInTheOrderOfTheCatalogue) {
  std::vector<std::string> sections, ids;
  std::istringstream lines(read_text(in_tree("docs/diagnostics.md")));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("## ")) sections.push_back(line.substr(3));
  }
  for (const CatalogueEntry& entry : catalogue()) ids.emplace_back(entry.name);
  EXPECT_EQ(sections, ids);
}

TEST(DiagnosticsPage, EveryExampleGivesItsDiagnostic) {
  std::set<std::string> shown;
  for (const Block& block : blocks_of("docs/diagnostics.md")) {
    shown.insert(block.section);
    const Annotated found = annotate("example", block.directives + block.text);
    std::set<std::string_view> ids;
    for (DiagId id : found.ids) ids.insert(name_of(id));
    EXPECT_TRUE(ids.contains(block.section)) << "docs/diagnostics.md:" << block.line << "\n"
                                             << found.text;
  }
  for (const CatalogueEntry& entry : catalogue()) {
    EXPECT_NE(shown.contains(std::string(entry.name)), kWithoutExample.contains(entry.name))
        << entry.name;
  }
}

class LanguagePage : public ::testing::TestWithParam<const char*> {};

TEST_P(LanguagePage, ItsBlocksCompile) {
  const std::vector<Block> blocks = blocks_of(GetParam());
  EXPECT_GT(blocks.size(), 10U);
  for (const Block& block : blocks) {
    const Annotated found = annotate("example", block.directives + block.text);
    bool failed = found.errors > 0;
    for (DiagId id : found.ids) failed = failed || entry_of(id).severity == Severity::kError;
    EXPECT_EQ(failed, block.wrong) << GetParam() << ":" << block.line << "\n" << found.text;
  }
}

INSTANTIATE_TEST_SUITE_P(All, LanguagePage,
                         ::testing::Values("docs/language.md", "docs/from_cpp_mapper.md"));

}  // namespace
}  // namespace groma::testing
