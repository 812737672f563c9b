// Reads members of nlohmann-json values without exceptions, whatever the text contains.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "groma/harmless.h"
#include "llm/chat_format.h"

namespace groma::llm {

using nlohmann::json;

// Parses `text`. The result is_discarded() if the text is not JSON, or if it exceeds the limits of
// base/json_bounds.h.
json parse_json(std::string_view text);

// Returns the value as JSON on one line. Bytes that are not UTF-8 become replacement characters,
// and hidden characters become escapes.
inline std::string dump(const json& value) {
  return harmless_lines(value.dump(-1, ' ', false, json::error_handler_t::replace));
}

// Returns the member of an object; null if the member is missing or is JSON null.
inline const json* member(const json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

// Returns the member if it is a string, otherwise an empty text.
inline std::string text_in(const json& object, const char* key) {
  const json* value = member(object, key);
  return value != nullptr && value->is_string() ? value->get<std::string>() : std::string();
}

// Returns the member if it is a number from 0 to 1e12, otherwise the value `otherwise`.
inline std::int64_t count_in(const json& object, const char* key, std::int64_t otherwise = 0) {
  constexpr double kMost = 1e12;
  const json* value = member(object, key);
  if (value == nullptr || !value->is_number()) return otherwise;
  const double number = value->get<double>();
  return std::isfinite(number) && number >= 0 && number <= kMost ? static_cast<std::int64_t>(number)
                                                                 : otherwise;
}

// Returns the error that a parsed body contains; nullopt if it contains none.
std::optional<ServerError> find_server_error(const json& value);

}  // namespace groma::llm
