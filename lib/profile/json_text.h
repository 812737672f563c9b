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

// Returns the text as a JSON string in quotes. Bytes that are not UTF-8 become replacement
// characters.
inline std::string json_quoted(std::string_view text) {
  return Json(text).dump(-1, ' ', true, Json::error_handler_t::replace);
}

}  // namespace groma::profile
