// What a `groma.toml` says, its mistakes with their places, and its patterns.
#include "language_server/workspace_file.h"

#include <gtest/gtest.h>

#include <string>

namespace groma::language_server {
namespace {

std::string text_at(const WorkspaceFile& file, Range range) {
  return file.text.substr(range.begin, range.end - range.begin);
}

TEST(WorkspaceFile, TheFirstEntryThatMatchesDecides) {
  const WorkspaceFile file =
      parse_workspace_file("/w/groma.toml",
                           "machine = \"p100x4\"\napp = \"a.json:n=4\"\n"
                           "[[mapping]]\nfiles = \"x/*.mapper\"\napp = \"b\"\n"
                           "[[mapping]]\nfiles = \"x/y.mapper\"\n"
                           "machine = \"local\"\napp = \"c\"\n");
  EXPECT_TRUE(file.problems.empty());
  const auto app = [&](const std::string& path) {
    return value_for(file, path, &WorkspaceFile::app, &MappingEntry::app)->text;
  };
  EXPECT_EQ(app("/w/y.mapper"), "a.json:n=4");
  EXPECT_EQ(app("/w/x/y.mapper"), "b");
  EXPECT_EQ(app("/w/z/../x/y.mapper"), "b");
  EXPECT_EQ(value_for(file, "/w/x/y.mapper", &WorkspaceFile::machine, &MappingEntry::machine)->text,
            "local");
  EXPECT_EQ(spec_from(file.path, "a.json:n=4"), "/w/a.json:n=4");
  EXPECT_EQ(spec_from(file.path, "../m/a"), "/m/a");
  EXPECT_EQ(spec_from(file.path, "/m/a.json"), "/m/a.json");
  EXPECT_EQ(spec_from(file.path, "circuit:n=4"), "circuit:n=4");
}

TEST(WorkspaceFile, MistakesHaveTheirPlaces) {
  const auto first = [](const std::string& text) {
    const WorkspaceFile file = parse_workspace_file("/groma.toml", text);
    return file.problems.empty() ? "" : text_at(file, file.problems.front().range);
  };
  EXPECT_EQ(first("app = \"\xC3\xA9\"\nmachine = 12\n"), "12");
  EXPECT_EQ(first("mashine = \"x\"\n"), "mashine");
  EXPECT_EQ(first("[[mapping]]\nfiles = 'a'\nmachines = 'b'\n"), "machines");
  EXPECT_EQ(first("app = \"x\"\n"), "");
  EXPECT_EQ(parse_workspace_file("/groma.toml", "app = \n").problems.size(), 1U);
  EXPECT_EQ(parse_workspace_file("/groma.toml", "[[mapping]]\napp = 'x'\n").problems.size(), 1U);
  EXPECT_EQ(parse_workspace_file("/groma.toml", std::string(60000, '[')).problems.size(), 1U);
  std::string many;
  for (int i = 0; i < 1000; ++i) many += "k" + std::to_string(i) + " = 1\n";
  EXPECT_EQ(parse_workspace_file("/groma.toml", many).problems.size(), kMaxFileErrors);
}

TEST(WorkspaceFile, PatternsMatchWholePaths) {
  EXPECT_TRUE(matches_path_pattern("*.mapper", "a.mapper"));
  EXPECT_FALSE(matches_path_pattern("*.mapper", "b/a.mapper"));
  EXPECT_TRUE(matches_path_pattern("b/*a*.mapper", "b/banana.mapper"));
  EXPECT_TRUE(matches_path_pattern("?", "a"));
  EXPECT_FALSE(matches_path_pattern("?", "/"));
  EXPECT_FALSE(matches_path_pattern("a", "ab"));
  EXPECT_FALSE(matches_path_pattern(std::string(2000, '*') + "b", std::string(2000, 'a')));
}

TEST(WorkspaceFile, StandardInputAndDevicesAreRefused) {
  EXPECT_NE(why_refused("-"), "");
  EXPECT_NE(why_refused("-:n=4"), "");
  EXPECT_NE(why_refused("/dev/zero"), "");
  EXPECT_EQ(why_refused("p100x4:nodes=2"), "");
}

}  // namespace
}  // namespace groma::language_server
