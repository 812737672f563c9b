// Reads and writes the messages of JSON-RPC 2.0.
#include "serve/message.h"

#include <fmt/format.h>

#include <utility>

#include "base/json_bounds.h"

namespace groma::serve {
namespace {

// Limit on the bytes of an id, which every reply and every log repeats.
constexpr std::size_t kMaxIdBytes = 256;

Message invalid(json id, std::string error, RpcCode code = RpcCode::kInvalidRequest) {
  Message message;
  message.id = std::move(id);
  message.code = code;
  message.error = std::move(error);
  return message;
}

bool is_id(const json& id) {
  return id.is_number_integer() ||
         (id.is_string() && id.get_ref<const std::string&>().size() <= kMaxIdBytes);
}

Message read_message(json&& value) {
  if (!value.is_object()) return invalid(nullptr, "a message is a JSON object");
  const auto id = value.find("id");
  const bool has_id = id != value.end();
  const json known_id = has_id && is_id(*id) ? *id : json(nullptr);
  const auto version = value.find("jsonrpc");
  if (version == value.end() || *version != "2.0") {
    return invalid(known_id, "`jsonrpc` is not \"2.0\"");
  }
  const auto method = value.find("method");
  if (method == value.end()) {
    if (!value.contains("result") && !value.contains("error")) {
      return invalid(known_id, "the message has no `method`");
    }
    Message response;
    response.kind = Message::Kind::kResponse;
    return response;
  }
  if (!method->is_string()) return invalid(known_id, "`method` is not a string");
  if (has_id && known_id.is_null()) {
    return invalid(nullptr, fmt::format("`id` is not an integer or a string of at most {} bytes",
                                        kMaxIdBytes));
  }
  Message message;
  const auto params = value.find("params");
  if (params != value.end()) {
    if (!params->is_object()) {
      return invalid(known_id, "`params` is not an object", RpcCode::kInvalidParams);
    }
    message.params = std::move(*params);
  }
  message.kind = has_id ? Message::Kind::kRequest : Message::Kind::kNotification;
  message.id = known_id;
  message.method = method->get<std::string>();
  return message;
}

}  // namespace

// The text is checked for its depth before it is parsed, because trees are destroyed by recursion.
Messages read_messages(std::string_view line) {
  Messages messages;
  if (!within_json_bounds(line)) {
    messages.all.push_back(invalid(nullptr, "the message is nested too deeply or has too many keys",
                                   RpcCode::kParseError));
    return messages;
  }
  json value = json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (value.is_discarded()) {
    messages.all.push_back(
        invalid(nullptr, "the line is not valid JSON in UTF-8", RpcCode::kParseError));
  } else if (!value.is_array()) {
    messages.all.push_back(read_message(std::move(value)));
  } else if (value.empty() || value.size() > kMaxBatch) {
    messages.all.push_back(
        invalid(nullptr, fmt::format("an array has 1 to {} messages", kMaxBatch)));
  } else {
    messages.is_batch = true;
    for (json& each : value) messages.all.push_back(read_message(std::move(each)));
  }
  return messages;
}

std::string to_line(const json& message) {
  return message.dump(-1, ' ', /*ensure_ascii=*/true, json::error_handler_t::replace);
}

json make_reply(const json& id, json result) {
  return {{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}};
}

json make_error(const json& id, RpcCode code, std::string_view text, json data) {
  json error = {{"code", static_cast<int>(code)}, {"message", text}};
  if (!data.is_null()) error["data"] = std::move(data);
  return {{"jsonrpc", "2.0"}, {"id", id}, {"error", std::move(error)}};
}

json make_notification(std::string_view method, json params) {
  return {{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}};
}

}  // namespace groma::serve
