// ChatFormat: writes requests and parses replies in the format of OpenAI or of Anthropic. Servers
// accept constraints on replies in different forms, and a ChatFormat chooses the form of the
// server. Any input is safe: ParsedReply::parse_error says why a reply is malformed.
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

// The inference software that a server runs. It determines in which form a request asks for a JSON
// schema or a grammar.
enum class ServerSoftware {
  kUnknown,
  kLlamaCpp,
  kLlamaCppPython,
  kVllm,
  kSglang,
  kFireworks,
  kOpenAi,
  kOllama
};

// What is known about a chat server: its software, and the request fields that it refuses.
struct ServerDialect {
  ServerSoftware server = ServerSoftware::kUnknown;
  // True if requests limit the tokens with `max_completion_tokens` instead of `max_tokens`.
  bool uses_max_completion_tokens = false;
  // The request fields that the server refuses, so that requests leave them out.
  std::set<std::string> refused_fields;
};

// An error that a chat server reports.
struct ServerError {
  std::string message, type, code, param;
  // The HTTP status that the error contains as its code. 0: the code is not an HTTP status.
  int status = 0;
  std::int64_t context_tokens = 0;
};

// The name of the tool that a request defines so that the model gives a structured reply: the reply
// is the input of a call of this tool.
inline constexpr const char* kReplyTool = "reply";

// What was parsed from the body of a reply, or from the events of a stream so far.
struct ParsedReply {
  std::string text, reasoning, refusal, tool, model, finish;
  // True if the reply has a text, which may be empty.
  bool has_text = false;
  // The token counts that the server reports. -1: the server has not reported the count.
  ChatUsage reported_usage{.input_tokens = -1, .output_tokens = -1};
  std::optional<ServerError> error;
  // Why the body is not a valid reply, such as "`choices` is empty". Empty if it is valid.
  std::string parse_error;

  // Returns the token counts if the server reported both and at least one is not 0.
  std::optional<ChatUsage> usage() const;
};

// The format of requests and replies of one chat API, such as OpenAI's.
class ChatFormat {
 public:
  virtual ~ChatFormat() = default;
  // Parses the body of a reply that is not a stream.
  ParsedReply parse_body(std::string_view body) const;
  // Reads the data of one event of a stream into `*reply`. Returns true if the event brought text
  // or reasoning.
  bool add_event(std::string_view data, ParsedReply* reply) const;

  virtual const char* path() const = 0;
  virtual std::vector<std::string> headers(const std::string& key) const = 0;
  // Returns the name of a request field that this format does not have; empty if it has all of
  // them.
  virtual const char* field_not_in_format() const { return ""; }
  // Returns why the server cannot be asked for the constraint; an empty text if it can.
  virtual std::string why_unsupported(const ChatConstraint& constraint,
                                      ServerSoftware server) const = 0;
  // Returns the body of a request as JSON, without the fields that the server refuses.
  virtual std::string request_body(const ChatRequest& request, const std::string& model,
                                   bool stream, const ServerDialect& dialect) const = 0;

 private:
  // read_content() parses the body of a reply, and read_event() parses one event of a stream, both
  // without errors, token counts and the name of the model. add_usage() reads the token counts.
  virtual void read_content(const nlohmann::json& body, ParsedReply* reply) const = 0;
  virtual void read_event(const nlohmann::json& event, ParsedReply* reply) const = 0;
  virtual void add_usage(const nlohmann::json& value, ParsedReply* reply) const = 0;
};

const ChatFormat& openai_format();
const ChatFormat& anthropic_format();

// Returns the error that the body of a reply contains; nullopt if it contains none.
std::optional<ServerError> read_error(std::string_view body);

// The names of the models that an endpoint lists, and the server software that the list reveals.
struct ModelList {
  std::vector<std::string> names;
  ServerSoftware server = ServerSoftware::kUnknown;
};
// Parses the body of a reply as a list of models. Returns nullopt if it is not one.
std::optional<ModelList> read_models(std::string_view body);

// Returns the name of the request field that the server's error is about and that the request can
// leave out; an empty text if there is none. `body` is the body of the refused request.
std::string refused_field(const ServerError& error, std::string_view body);

}  // namespace groma::llm
