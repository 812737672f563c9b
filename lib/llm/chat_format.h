// ChatFormat: writes requests and parses replies in the format of OpenAI or of Anthropic. Servers
// take constraints on replies in different ways, which the formats know. Any input is safe.
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

// The software of a server, as far as it determines how to ask for a schema or a grammar.
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
  int status = 0;  // the code, if it is an HTTP status
  std::int64_t context_tokens = 0;
};

// The name of the tool that carries a structured reply.
inline constexpr const char* kReplyTool = "reply";

// What was parsed from the body of a reply, or from the events of a stream so far.
struct ParsedReply {
  std::string text, reasoning, refusal, tool, model, finish;
  bool has_text = false;  // true: the reply has a text, which may be empty
  ChatUsage counted{.input_tokens = -1, .output_tokens = -1};  // -1: not reported
  std::optional<ServerError> error;
  std::string wrong;  // why this is not a valid reply, such as "`choices` is empty"; empty if it is

  // Returns the token counts if both are reported and at least one is not 0.
  std::optional<ChatUsage> usage() const;
};

// One format of requests and replies.
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
  virtual const char* missing_field() const { return ""; }
  // Returns why the server cannot be asked for the constraint; an empty text if it can.
  virtual std::string unsupported(const ChatConstraint& constraint, Server server) const = 0;
  // Returns the body of a request as JSON, without the fields that the server refuses.
  virtual std::string body(const ChatRequest& request, const std::string& model, bool stream,
                           const ServerDialect& dialect) const = 0;

 private:
  // Parse everything in a body or an event except errors, token counts and the name of the model.
  virtual void read_rest(const nlohmann::json& body, ParsedReply* reply) const = 0;
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
  Server server = Server::kUnknown;
};
// Returns nullopt if the body is not a list of models.
std::optional<ModelList> read_models(std::string_view body);

// Returns the field that the error names and that the refused request can leave out; an empty text
// if there is none. `body` is the body of the request.
std::string refused_field(const ServerError& error, std::string_view body);

}  // namespace groma::llm
