// What README and docs show is what the command does: every ```console block is run, line for line.
// A block's commands run in the source folder, one shell each; what they print to either stream is
// shown. A command ends at the first line without `\` at its end. A block with the title
// "with Legion" is run where the command has Legion.
//
// A ```mapper block with a file's name as its title shows this file. In a page that says
// `<!-- commands run in an empty folder -->` the reader makes the file: the block writes it, and
// all commands of the page run in one folder.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include "command/run.h"

namespace groma {
namespace {

#ifdef GROMA_LEGION_APPS
constexpr bool kWithLegion = true;
#else
constexpr bool kWithLegion = false;
#endif

bool updates() { return std::getenv("GROMA_UPDATE") != nullptr; }

std::string in_tree(const std::string& path) { return std::string(GROMA_SOURCE_DIR) + "/" + path; }

// Expects the file of the tree to have this text. GROMA_UPDATE=1 writes it instead.
void expect_file(const std::string& path, const std::string& text) {
  if (updates()) {
    std::ofstream(in_tree(path), std::ios::binary) << text;
  } else {
    EXPECT_EQ(test::read_text(in_tree(path)), text) << path;
  }
}

// A document while its commands run.
class Page {
 public:
  explicit Page(const std::string& document) : text_(document) {
    if (document.find("<!-- commands run in an empty folder -->") != std::string::npos) {
      folder_.emplace();
    }
  }

  // Returns the document with what its commands print now in place of what it says that they print,
  // and with the files that it shows.
  std::string with_true_output() {
    std::string made;
    for (std::string line; std::getline(text_, line);) {
      made += line + "\n";
      if (line == "```console" || (kWithLegion && line == "```console title=\"with Legion\"")) {
        made += run_block();
      } else if (const std::string title = "```mapper title=\""; line.starts_with(title)) {
        made += show_file(line.substr(title.size(), line.rfind('"') - title.size()));
      } else if (line.starts_with("```")) {
        made += rest_of_block();
      }
    }
    return made;
  }

  int commands() const { return commands_; }

 private:
  std::string rest_of_block() {
    std::string rest;
    for (std::string line; std::getline(text_, line);) {
      rest += line + "\n";
      if (line == "```") break;
    }
    return rest;
  }

  // Takes the old output away.
  std::string run_block() {
    std::string made;
    for (std::string line; std::getline(text_, line) && line != "```";) {
      if (!line.starts_with("$ ")) continue;
      made += line + "\n";
      std::string command = line.substr(2);
      while (command.ends_with('\\') && std::getline(text_, line)) {
        made += line + "\n";
        command += "\n" + line;
      }
      made += output_of(command);
      if (!made.ends_with('\n')) made += '\n';
    }
    return made + "```\n";
  }

  // A picture of the tree (`--svg docs/...`) is written elsewhere and compared.
  std::string output_of(std::string command) {
    ++commands_;
    const test::TemporaryFolder pictures;
    const std::string picture = pictures.path() + "/picture.svg";
    std::string path;
    const std::string option = " --svg ";
    const std::size_t begin = command.find(option + "docs/");
    if (begin != std::string::npos) {
      path = command.substr(begin + option.size());
      path.resize(std::min(path.size(), path.find(' ')));
      command.replace(begin + option.size(), path.size(), picture);
    }
    if (folder_) command = "cd '" + folder_->path() + "' && " + command;
    const test::Outcome outcome = test::run(command);
    if (!path.empty()) expect_file(path, test::read_text(picture));
    return outcome.err + outcome.out;
  }

  std::string show_file(const std::string& path) {
    const std::string shown = rest_of_block();
    if (!folder_) return test::read_text(in_tree(path)) + "```\n";
    folder_->write(path, shown.substr(0, shown.size() - 4));
    return shown;
  }

  std::istringstream text_;
  std::optional<test::TemporaryFolder> folder_;
  int commands_ = 0;
};

class Documents : public ::testing::TestWithParam<const char*> {};

// GROMA_UPDATE=1 rewrites the document instead.
TEST_P(Documents, ConsoleBlocksAreTrue) {
  Page page(test::read_text(in_tree(GetParam())));
  const std::string made = page.with_true_output();
  EXPECT_GT(page.commands(), 0);
  expect_file(GetParam(), made);
}

// tests/package builds and runs it.
TEST(Documents, ShowTheProgramThatIsRun) {
  const std::string folder = GROMA_SOURCE_DIR;
  const std::string program = test::read_text(folder + "/tests/package/use_llm.cc");
  const std::string document = test::read_text(folder + "/docs/llm.md");
  EXPECT_NE(document.find("```cpp\n" + program + "```\n"), std::string::npos);
}

// Each mapping of the cookbook is in one of its pages, and has no mistake.
TEST(Cookbook, ShowsEveryMapping) {
  std::string pages;
  for (const char* page : {"points", "matrices", "memories", "tasks"}) {
    pages += test::read_text(in_tree(std::string("docs/cookbook/") + page + ".md"));
  }
  int mappings = 0;
  for (const auto& entry : std::filesystem::directory_iterator(in_tree("docs/cookbook"))) {
    const std::string path = "docs/cookbook/" + entry.path().filename().string();
    if (entry.path().extension() == ".svg") {
      EXPECT_NE(pages.find(" --svg " + path), std::string::npos)
          << path << " is made by no command";
    }
    if (entry.path().extension() != ".mapper") continue;
    ++mappings;
    EXPECT_NE(pages.find(path), std::string::npos) << path;
    const test::Outcome outcome = test::run("groma check --machine p100x4:nodes=2 " + path);
    EXPECT_EQ(outcome.out, "no errors, no warnings in 1 file\n") << path;
  }
  EXPECT_GE(mappings, 15);
}

// A page without a line in mkdocs.yml would be in no menu of the site.
TEST(Site, NavigatesToEveryPage) {
  const std::string site = test::read_text(in_tree("mkdocs.yml"));
  int pages = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(in_tree("docs"))) {
    if (entry.path().extension() != ".md") continue;
    ++pages;
    const std::string path = std::filesystem::relative(entry.path(), in_tree("docs")).string();
    EXPECT_NE(site.find(" " + path + "\n"), std::string::npos) << path;
  }
  EXPECT_GT(pages, 20);
}

constexpr const char* kDocuments[] = {"README.md",
                                      "docs/applications.md",
                                      "docs/commands.md",
                                      "docs/cookbook/matrices.md",
                                      "docs/cookbook/memories.md",
                                      "docs/cookbook/points.md",
                                      "docs/cookbook/tasks.md",
                                      "docs/diagnostics.md",
                                      "docs/domains.md",
                                      "docs/emit.md",
                                      "docs/from_cpp_mapper.md",
                                      "docs/llm.md",
                                      "docs/tune.md",
                                      "docs/tutorial.md",
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
