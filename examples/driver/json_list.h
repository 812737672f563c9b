// json_list() writes the names of the machines, applications and strategies that come with Groma,
// for scripts.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace driver {

// Returns {"LIST": [{"name": ..., "summary": ...}, ...]}, with a line end.
template <typename Items>
std::string json_list(const char* list, const Items& items) {
  nlohmann::ordered_json json = {{list, nlohmann::ordered_json::array()}};
  for (const auto& item : items) {
    json[list].push_back({{"name", item.name}, {"summary", item.summary}});
  }
  return json.dump() + "\n";
}

}  // namespace driver
