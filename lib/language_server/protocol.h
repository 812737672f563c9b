// The outer form of the protocol: frames of bytes with a Content-Length, and messages of JSON-RPC
// 2.0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "groma/language_server.h"
#include "groma/source.h"
#include "language_server/text_document.h"

namespace groma::language_server {

using Json = nlohmann::json;

// The error codes of JSON-RPC and of the protocol that the server uses.
enum class ErrorCode : int {
  kParseError = -32700,
  kInvalidRequest = -32600,
  kMethodNotFound = -32601,
  kInvalidParams = -32602,
  kInternalError = -32603,
  kServerNotInitialized = -32002,
  kRequestCancelled = -32800,
  kRequestFailed = -32803,
};

// Limit on the bytes of a header. The protocol's own headers have less than 100.
inline constexpr std::size_t kMaxHeaderBytes = 4096;
// Limit on wrong frames. After so many of them, whatever writes is not a client.
inline constexpr int kMaxWrongFrames = 100;

// Splits a stream of bytes into the texts of messages.
class FrameReader {
 public:
  // What next() found: the text of a message, or what is wrong with the frame.
  struct Frame {
    std::string text;
    std::string problem;
  };

  // Adds bytes of the stream.
  void add(std::string_view bytes) { buffer_ += bytes; }
  // Returns the next message or problem. Returns nullopt if more bytes are needed. After a problem
  // it goes on at the next header.
  std::optional<Frame> next();

 private:
  // Notes that what follows is not a header.
  Frame begin_garbage(std::string problem);
  // Removes what stands before the next header. Returns false if there is none yet.
  bool skip_garbage();

  std::string buffer_;
  // The number of bytes of a message that is too large, which are still to come.
  std::size_t skip_ = 0;
  // True while the reader looks for the next header. The problem was told already.
  bool in_garbage_ = false;
};

// Returns a message with its header.
std::string framed(const Json& message);

// Returns the text as JSON, or nullopt with the reason in `*problem`.
std::optional<Json> parse_message(std::string_view text, std::string* problem);

// Returns the value behind a path of keys, or null. The value may have any type.
const Json* find(const Json& value, std::initializer_list<const char*> path);
// Return the value behind a path, if it has this type.
std::optional<std::string> find_text(const Json& value, std::initializer_list<const char*> path);
std::optional<std::int64_t> find_integer(const Json& value,
                                         std::initializer_list<const char*> path);
// Returns true if the value behind the path is `true`.
bool find_flag(const Json& value, std::initializer_list<const char*> path);
// Returns the position at a path, if both of its numbers are valid.
std::optional<LinePosition> find_position(const Json& value,
                                          std::initializer_list<const char*> path);

// Returns a range of a document as JSON.
Json json_of(const TextDocument& document, Range range, PositionEncoding encoding);

// Returns the path of a `file:` URI, with its escapes replaced. Returns "" for any other URI.
std::string path_of_uri(std::string_view uri);
// Returns the `file:` URI of an absolute path.
std::string uri_of_path(std::string_view path);

}  // namespace groma::language_server
