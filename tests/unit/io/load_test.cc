// load_machine, load_application: which of its forms a text is.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "groma/io.h"

namespace groma {
namespace {

constexpr const char* kText =
    R"({"name": "filed", "nodes": [{"processors": [{"kind": "CPU", "count": 3}]}]})";

// A folder of its own, the current one as long as it lives.
class LoadTest : public ::testing::Test {
 protected:
  void SetUp() override {
    before_ = std::filesystem::current_path();
    std::string pattern = (std::filesystem::temp_directory_path() / "groma-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    std::filesystem::current_path(folder_);
  }
  void TearDown() override {
    std::filesystem::current_path(before_);
    std::filesystem::remove_all(folder_);
  }
  void write(const std::string& path) { std::ofstream(path) << kText; }

  std::filesystem::path before_;
  std::filesystem::path folder_;
};

TEST_F(LoadTest, PresetsLinesAndThisComputer) {
  EXPECT_EQ(load_machine("lassen:nodes=2")->node_count(), 2);
  EXPECT_EQ(load_machine("nodes=2,gpu=1")->processors_per_node(ProcKind::kGpu), 1);
  EXPECT_EQ(load_machine("local")->name(), "local");
}

TEST_F(LoadTest, Files) {
  write("a.json");
  write("plain");
  EXPECT_EQ(load_machine("a.json")->name(), "filed");
  EXPECT_EQ(load_machine("./a.json")->name(), "filed");
  EXPECT_EQ(load_machine("plain")->name(), "filed");
}

TEST_F(LoadTest, APresetIsNoFile) {
  write("lassen");
  write("nodes=2");
  EXPECT_EQ(load_machine("lassen")->name(), "lassen");
  EXPECT_EQ(load_machine("nodes=2")->name(), "nodes=2");
  EXPECT_EQ(load_machine("./lassen")->name(), "filed");
}

TEST_F(LoadTest, WhatIsNotThere) {
  EXPECT_EQ(load_machine("b.json").error().code, Error::Code::kUnreadable);
  EXPECT_EQ(load_machine("./").error().code, Error::Code::kUnreadable);
  const Error error = load_machine("lasen").error();
  EXPECT_EQ(error.code, Error::Code::kUnknown);
  EXPECT_EQ(error.message, "there is no machine `lasen`");
  EXPECT_EQ(error.help,
            "did you mean `lassen`? a machine is also `local`, a line such as `nodes=4,gpu=4`, or "
            "a JSON file");
  std::filesystem::create_directory("folder");
  EXPECT_EQ(load_machine("folder").error().code, Error::Code::kUnknown);
  EXPECT_EQ(load_machine("").error().code, Error::Code::kMalformed);
  EXPECT_LT(load_machine(std::string(10 << 20, '/')).error().message.size(), 200U);
}

TEST_F(LoadTest, StandardInput) {
  write("input");
  const int saved = dup(STDIN_FILENO);
  ASSERT_NE(std::freopen("input", "r", stdin), nullptr);
  const Result<Machine> machine = load_machine("-");
  dup2(saved, STDIN_FILENO);
  close(saved);
  ASSERT_TRUE(machine.ok()) << machine.error().message;
  EXPECT_EQ(machine->name(), "filed");
}

// Values stand behind the last colon only where a name stands before the `=`.
TEST_F(LoadTest, ValuesOfAnApplicationBeginAtAName) {
  const std::string text = application_to_json(load_application("cannon").value());
  for (const char* path : {"a.json", "b:a.=1", "b:.a=1", "b:=1", "b:c.json"}) {
    std::ofstream(path) << text;
  }
  EXPECT_EQ(load_application("b:a.=1").value().name, "cannon");
  EXPECT_EQ(load_application("b:.a=1").value().name, "cannon");
  EXPECT_EQ(load_application("./b:c.json").value().name, "cannon");
  EXPECT_EQ(load_application("b:=1").error().message, "no application `b`");
  for (const char* spec : {"cannon:n=30000", "a.json:n=30000", "b:c.json:n=30000"}) {
    const auto app = load_application(spec);
    ASSERT_TRUE(app.ok()) << spec << ": " << app.error().message;
    EXPECT_NE(application_to_json(*app), text) << spec;
  }
  for (const char* spec : {"cannon:", "a.json:", "cannon:n", "a.json:n"}) {
    EXPECT_EQ(load_application(spec).error().code, Error::Code::kMalformed) << spec;
  }
}

TEST_F(LoadTest, AFileIsRefusedUnderItsName) {
  std::ofstream("bad.json") << "{]";
  EXPECT_TRUE(load_machine("bad.json").error().message.starts_with("`bad.json`: line 1, column 2"));
}

}  // namespace
}  // namespace groma
