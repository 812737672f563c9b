// The limits of foreign JSON.
#include "base/json_bounds.h"

#include <gtest/gtest.h>

#include <string>

namespace groma {
namespace {

std::string object_of(int keys) {
  std::string text = "{";
  for (int key = 0; key < keys; ++key) text += "\"" + std::to_string(key) + "\": 0, ";
  return text + "\"last\": 0}";
}

std::string list_of(int count, const std::string& item) {
  std::string text = "[";
  for (int i = 0; i < count; ++i) text += item + ", ";
  return text + item + "]";
}

TEST(JsonBounds, LimitTheNesting) {
  EXPECT_TRUE(within_json_bounds(std::string(200, '[')));
  EXPECT_FALSE(within_json_bounds(std::string(201, '[')));
  EXPECT_TRUE(within_json_bounds("\"" + std::string(300, '[') + "\""));
}

TEST(JsonBounds, LimitTheComparisonsOfKeys) {
  EXPECT_TRUE(within_json_bounds(object_of(10'000)));
  EXPECT_FALSE(within_json_bounds(object_of(11'000)));
  EXPECT_FALSE(within_json_bounds(list_of(10, object_of(9'000))));
  EXPECT_TRUE(within_json_bounds(list_of(20'000, object_of(80))));
}

}  // namespace
}  // namespace groma
