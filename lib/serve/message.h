// Messages of JSON-RPC 2.0: reads a line of text as messages, and writes replies. Any text is safe.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace groma::serve {

using nlohmann::json;

// The codes of errors, of JSON-RPC and of the protocol.
enum class RpcCode : int {
  kParseError = -32700,
  kInvalidRequest = -32600,
  kMethodNotFound = -32601,
  kInvalidParams = -32602,
  kInternalError = -32603,
  // The server cannot take the request now.
  kTooBusy = -32000,
  kResourceNotFound = -32002,
};

// One message from the client.
struct Message {
  enum class Kind { kRequest, kNotification, kResponse, kInvalid };
  Kind kind = Kind::kInvalid;
  // The id of a request: a string or an integer. Null if it is not known.
  json id = nullptr;
  std::string method;
  // An object.
  json params = json::object();
  // Why the message is not valid.
  RpcCode code = RpcCode::kInvalidRequest;
  std::string error;
};

// The messages of one line.
struct Messages {
  std::vector<Message> all;
  // True if the line is an array of messages, whose replies are an array, too.
  bool is_batch = false;
};

// Limit on the messages of an array.
inline constexpr std::size_t kMaxBatch = 64;

// Reads a line. A line that is not JSON, or is nested too deeply, gives one invalid message.
Messages read_messages(std::string_view line);

// Write messages to the client. The texts are ASCII: all other characters are escapes of JSON, so
// that a terminal which shows the messages cannot be harmed.
std::string to_line(const json& message);
json make_reply(const json& id, json result);
json make_error(const json& id, RpcCode code, std::string_view text, json data = nullptr);
json make_notification(std::string_view method, json params);

}  // namespace groma::serve
