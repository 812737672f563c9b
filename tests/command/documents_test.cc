// What README and docs show is what the command does: every ```console block is run, line for line.
// A block's commands run in the source folder, one shell each; what they print to either stream is
// shown.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "command/run.h"

namespace groma {
namespace {

// The document with what its commands print now in place of what it says that they print.
std::string with_true_output(const std::string& document, int* commands) {
  std::istringstream text(document);
  std::string made;
  bool inside = false;
  *commands = 0;
  for (std::string line; std::getline(text, line);) {
    if (line.starts_with("```")) inside = line == "```console";
    const bool command = inside && line.starts_with("$ ");
    if (!inside || command || line.starts_with("```")) made += line + "\n";
    if (!command) continue;
    ++*commands;
    const test::Outcome outcome = test::run(line.substr(2));
    made += outcome.err + outcome.out;
    if (!made.ends_with('\n')) made += '\n';
  }
  return made;
}

class Documents : public ::testing::TestWithParam<const char*> {};

// GROMA_UPDATE=1 rewrites the document instead.
TEST_P(Documents, ConsoleBlocksAreTrue) {
  const std::string path = std::string(GROMA_SOURCE_DIR) + "/" + GetParam();
  const std::string document = test::read_text(path);
  int commands = 0;
  const std::string made = with_true_output(document, &commands);
  EXPECT_GT(commands, 0);
  if (std::getenv("GROMA_UPDATE") != nullptr) {
    std::ofstream(path, std::ios::binary) << made;
  } else {
    EXPECT_EQ(made, document);
  }
}

// tests/package builds and runs it.
TEST(Documents, ShowTheProgramThatIsRun) {
  const std::string folder = GROMA_SOURCE_DIR;
  const std::string program = test::read_text(folder + "/tests/package/use_llm.cc");
  const std::string document = test::read_text(folder + "/docs/llm.md");
  EXPECT_NE(document.find("```cpp\n" + program + "```\n"), std::string::npos);
}

constexpr const char* kDocuments[] = {
    "README.md",        "docs/agents.md",      "docs/applications.md",
    "docs/commands.md", "docs/diagnostics.md", "docs/domains.md",
    "docs/emit.md",     "docs/llm.md",         "docs/tune.md",
#ifdef GROMA_EMBED  // where the examples are built
    "docs/embedding.md"
#endif
};

INSTANTIATE_TEST_SUITE_P(All, Documents, ::testing::ValuesIn(kDocuments), [](const auto& param) {
  std::string name = param.param;
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return name;
});

}  // namespace
}  // namespace groma
