// ChatFormat: writes requests and parses replies in OpenAI's or Anthropic's format, with the ways
// in which servers are asked for structured replies. Any input is safe.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "groma/llm.h"
#include "llm/wire.h"

namespace groma::llm {

// The server software, as far as it determines how to ask for a schema or a grammar.
enum class Server {
  kUnknown,
  kLlamaCpp,
  kLlamaCppPython,
  kVllm,
  kSglang,
  kFireworks,
  kOpenAi,
  kOllama
};

// What is known about a server: its software, and the fields that it refuses.
struct ServerDialect {
  Server server = Server::kUnknown;
  bool completion_limit = false;   // use `max_completion_tokens` instead of `max_tokens`
  std::set<std::string> left_out;  // fields that the server refuses, so requests leave them out
};

// An error that a server reports.
struct ServerError {
  std::string message, type, code, param;
  int status = 0;  // set if the code is an HTTP status
  std::int64_t context_tokens = 0;
};

// The name of the tool that carries a structured reply.
inline constexpr const char* kReplyTool = "reply";

// What was parsed from the body of a reply, or from the events of a stream.
struct ParsedReply {
  std::string text, reasoning, refusal, tool, model, finish;
  bool has_text = false;  // true: the reply has a text, which may be empty
  ChatUsage counted{.input_tokens = -1, .output_tokens = -1};  // -1: not reported
  std::optional<ServerError> error;
  std::string wrong;  // why this is not a valid reply, such as "`choices` is empty"; empty if it is

  // Returns the usage if both numbers are reported and not both are 0.
  std::optional<ChatUsage> usage() const;
};

// One format of requests and replies.
class ChatFormat {
 public:
  virtual ~ChatFormat() = default;
  // Parses the body of a reply that is not a stream.
  ParsedReply parse_body(std::string_view body) const;
  // Reads the data of one event of a stream. Returns true if it brought text or reasoning.
  bool add_event(std::string_view data, ParsedReply* reply) const;

  virtual const char* path() const = 0;
  virtual std::vector<std::string> headers(const std::string& key) const = 0;
  // Returns a request field that this format does not have.
  virtual const char* missing_field() const { return ""; }
  // Returns why the constraint cannot be requested; empty if it can.
  virtual std::string unsupported(const ChatConstraint& constraint, Server server) const = 0;
  virtual std::string body(const ChatRequest& request, const std::string& model, bool stream,
                           const ServerDialect& dialect) const = 0;

 private:
  // Parse everything except errors, usage and the name of the model.
  virtual void read_rest(const nlohmann::json& body, ParsedReply* reply) const = 0;
  virtual void read_event(const nlohmann::json& event, ParsedReply* reply) const = 0;
  virtual void add_usage(const nlohmann::json& value, ParsedReply* reply) const = 0;
};

const ChatFormat& openai_format();
const ChatFormat& anthropic_format();

// Returns the error that a body contains; nullopt if it contains none.
std::optional<ServerError> read_error(std::string_view body);

// The models that an endpoint lists, and the server software that the list reveals.
struct ModelList {
  std::vector<std::string> names;
  Server server = Server::kUnknown;
};
std::optional<ModelList> read_models(std::string_view body);

// Returns the field that the error names and that the refused request can leave out; empty if there
// is none.
std::string refused_field(const ServerError& error, std::string_view body);

}  // namespace groma::llm
