// docs/machines.md: its JSON loads, its lines make machines, its figures are the presets'.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "groma/io.h"
#include "groma/source.h"

namespace groma {
namespace {

std::string page() {
  return read_file(std::string(GROMA_SOURCE_DIR) + "/docs/machines.md", 1 << 20).value();
}

// The blocks of the page that are fenced as `language`.
std::vector<std::string> blocks(const std::string& text, const std::string& language) {
  std::vector<std::string> found;
  const std::string fence = "\n```" + language + "\n";
  for (std::size_t at = 0; (at = text.find(fence, at)) != std::string::npos;) {
    at += fence.size();
    const std::size_t end = text.find("\n```", at);
    found.push_back(text.substr(at, end - at));
    at = end;
  }
  return found;
}

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> found(1);
  for (const char c : text) {
    if (c == '\n') {
      found.emplace_back();
    } else {
      found.back() += c;
    }
  }
  return found;
}

TEST(MachinesPage, ItsJsonLoads) {
  const std::vector<std::string> examples = blocks(page(), "json");
  ASSERT_GE(examples.size(), 2U);
  for (const std::string& text : examples) {
    const Result<Machine> machine = machine_from_json(text, "example");
    EXPECT_TRUE(machine.ok()) << text << "\n" << (machine.ok() ? "" : machine.error().message);
  }
}

TEST(MachinesPage, ItsLinesMakeMachines) {
  const std::vector<std::string> examples = blocks(page(), "machine");
  ASSERT_FALSE(examples.empty());
  for (const std::string& block : examples) {
    for (const std::string& line : lines(block)) EXPECT_TRUE(load_machine(line).ok()) << line;
  }
}

TEST(MachinesPage, ItsFiguresAreThePresets) {
  const std::string text = page();
  for (const Preset& preset : machine_presets()) {
    const std::string heading = "\n### `" + std::string(preset.name) + "`\n";
    const std::size_t begin = text.find(heading);
    ASSERT_NE(begin, std::string::npos) << heading;
    const std::string section =
        text.substr(begin, text.find("\n#", begin + heading.size()) - begin);
    EXPECT_NE(section.find(preset.summary), std::string::npos) << preset.summary;
    for (const PresetFigure& figure : preset.figures) {
      const std::string row = "\n| " + std::string(figure.what) + " | " +
                              std::string(figure.value) + " | " + std::string(figure.source) +
                              " |\n";
      EXPECT_NE(section.find(row), std::string::npos) << preset.name << ":" << row;
    }
  }
}

}  // namespace
}  // namespace groma
