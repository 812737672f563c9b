// Writes a profile and foreign text as JSON.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "groma/profile.h"

namespace groma::profile {

using Json = nlohmann::ordered_json;

// How much of a profile is written. kSums leaves out what is about single processors, channels and
// moments, which is most of it.
enum class ProfileExtent : std::uint8_t { kAll, kSums };

// Returns the JSON value that docs/commands.md calls "profile".
Json json_of(const Profile& profile, const ProfileWords& words,
             ProfileExtent extent = ProfileExtent::kAll);

// Returns the text as a JSON string in quotes. Bytes that are not UTF-8 become replacement
// characters.
inline std::string json_quoted(std::string_view text) {
  return Json(text).dump(-1, ' ', true, Json::error_handler_t::replace);
}

}  // namespace groma::profile
