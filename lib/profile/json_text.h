// Writes the profile of a run, and text of other programs, as JSON.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "groma/profile.h"

namespace groma::profile {

using Json = nlohmann::ordered_json;

// How much of a profile is written. kAll writes everything. kSums leaves out the parts about single
// processors, channels, flows and path segments, which are most of the text.
enum class ProfileExtent : std::uint8_t { kAll, kSums };

// Returns the profile of a run as the JSON value that docs/commands.md calls "profile".
Json json_of(const Profile& profile, const ProfileWords& words,
             ProfileExtent extent = ProfileExtent::kAll);

// Returns the mapping statement that decided something as JSON. The number 0 stands for the default
// mapper and gives null. A negative number means that the statement is not known.
Json statement_json(const ProfileWords& words, std::int32_t statement);
// Adds to the JSON of a profile which data the tasks stream from which memories, and how tasks are
// spread over processors. Adds nothing if the record does not describe the costs of tasks.
void add_data_streams(const Profile& profile, const ProfileWords& words, Json& json);

// Returns the text as a JSON string in quotes. Bytes that are not UTF-8 become replacement
// characters.
inline std::string json_quoted(std::string_view text) {
  return Json(text).dump(-1, ' ', true, Json::error_handler_t::replace);
}

}  // namespace groma::profile
