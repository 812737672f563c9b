#include "base/name_pattern.h"

#include <gtest/gtest.h>

#include <string>

#include "base/names.h"

namespace groma {
namespace {

TEST(NamePattern, AStarStandsForAnyCharacters) {
  for (const auto& [name, pattern] : {std::pair("calc_x", "calc_*"),
                                      {"calc_", "calc_*"},
                                      {"ns::f", "ns::*"},
                                      {"init_a_gpu", "init_*_gpu"},
                                      {"init__gpu", "init_*_gpu"},
                                      {"abcabc", "a*bc"},
                                      {"aXbXc", "a*b*c"},
                                      {"a*b", "a*b"},
                                      {"a", "a"}}) {
    EXPECT_TRUE(matches_pattern(name, pattern)) << name << " " << pattern;
  }
  for (const auto& [name, pattern] : {std::pair("calc", "calc_*"),
                                      {"xcalc_x", "calc_*"},
                                      {"init_gpu", "init_*_gpu"},
                                      {"abcab", "a*bc"},
                                      {"aXcXb", "a*b*c"},
                                      {"", "a*"},
                                      {"b", "a"}}) {
    EXPECT_FALSE(matches_pattern(name, pattern)) << name << " " << pattern;
  }
}

TEST(NamePattern, ManyStarsTakeNoLongTime) {
  std::string pattern;
  for (int i = 0; i < 1000; ++i) pattern += "a*";
  EXPECT_FALSE(matches_pattern(std::string(10'000, 'a') + "b", pattern + "c"));
}

TEST(NameTable, APatternIsNoName) {
  NameTable table;
  const NameId pattern = table.intern_pattern("a*");
  EXPECT_EQ(table.intern_pattern("a*"), pattern);
  EXPECT_EQ(table.find("a*"), FlatIndex::kNone);
  const NameId name = table.intern_name("a*");
  EXPECT_NE(name, pattern);
  EXPECT_EQ(table.text(pattern), "a*");
  EXPECT_TRUE(table.is_pattern(pattern));
  EXPECT_FALSE(table.is_pattern(name));
  EXPECT_TRUE(table.stands_for(pattern, "abc"));
  EXPECT_FALSE(table.stands_for(name, "abc"));
  EXPECT_TRUE(table.stands_for(name, "a*"));
  EXPECT_TRUE(table.stands_for(kStarName, "x"));
}

}  // namespace
}  // namespace groma
