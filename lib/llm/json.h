// nlohmann-json without exceptions, for texts that may hold anything.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "groma/harmless.h"
#include "llm/shape.h"

namespace groma::llm {

using nlohmann::json;

// A discarded value where it is none, or beyond base/json_bounds.h.
json parse_json(std::string_view text);

// One line. Bytes that are not UTF-8 become replacement characters, hidden characters escapes.
inline std::string dump(const json& value) {
  return harmless_lines(value.dump(-1, ' ', false, json::error_handler_t::replace));
}

inline const json* member(const json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

// The member if it is a string, else an empty one.
inline std::string text_in(const json& object, const char* key) {
  const json* value = member(object, key);
  return value != nullptr && value->is_string() ? value->get<std::string>() : std::string();
}

// A count, within reason; `otherwise` for anything else.
inline std::int64_t count_in(const json& object, const char* key, std::int64_t otherwise = 0) {
  constexpr double kMost = 1e12;
  const json* value = member(object, key);
  if (value == nullptr || !value->is_number()) return otherwise;
  const double number = value->get<double>();
  return std::isfinite(number) && number >= 0 && number <= kMost ? static_cast<std::int64_t>(number)
                                                                 : otherwise;
}

std::optional<ServerError> error_in(const json& value);

}  // namespace groma::llm
