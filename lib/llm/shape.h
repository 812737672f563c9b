// Shape: the format of requests and replies (OpenAI's and Anthropic's), and the ways in which
// servers ask for structured replies. Its readers accept any input.
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

// What is known about the behaviour of a server.
struct Dialect {
  Server server = Server::kUnknown;
  bool completion_limit = false;   // use `max_completion_tokens` instead of `max_tokens`
  std::set<std::string> left_out;  // fields that it refuses
};

// An error that a server reports.
struct ServerError {
  std::string message, type, code, param;
  int status = 0;  // set if the code is an HTTP status
  std::int64_t context_tokens = 0;
};

// The name of the tool that carries a structured reply.
inline constexpr const char* kReplyTool = "reply";

// The contents of a body or a stream.
struct ReadReply {
  std::string text, reasoning, refusal, tool, model, finish;
  bool has_text = false;                                       // there was a text, possibly empty
  ChatUsage counted{.input_tokens = -1, .output_tokens = -1};  // -1: not reported
  std::optional<ServerError> error;
  std::string wrong;  // why it is not a reply: "`choices` is empty"

  // Returns the usage if both numbers are reported and not both are 0.
  std::optional<ChatUsage> usage() const;
};

// One format of requests and replies.
class Shape {
 public:
  virtual ~Shape() = default;
  // Reads a whole body.
  ReadReply read(std::string_view body) const;
  // Reads the data of one event of a stream. Returns true if it brought text or reasoning.
  bool add_event(std::string_view data, ReadReply* reply) const;

  virtual const char* path() const = 0;
  virtual std::vector<std::string> headers(const std::string& key) const = 0;
  // Returns a request field that this format does not have.
  virtual const char* lacks() const { return ""; }
  // Returns why the constraint cannot be requested; empty if it can.
  virtual std::string unsupported(const ChatConstraint& constraint, Server server) const = 0;
  virtual std::string body(const ChatRequest& request, const std::string& model, bool stream,
                           const Dialect& dialect) const = 0;

 private:
  // Read everything except errors, usage and the name of the model.
  virtual void read_rest(const nlohmann::json& body, ReadReply* reply) const = 0;
  virtual void read_event(const nlohmann::json& event, ReadReply* reply) const = 0;
  virtual void add_usage(const nlohmann::json& value, ReadReply* reply) const = 0;
};

const Shape& openai_shape();
const Shape& anthropic_shape();

// Returns the error in a body, if the body is one.
std::optional<ServerError> read_error(std::string_view body);

struct ModelList {
  std::vector<std::string> names;
  Server server = Server::kUnknown;
};
std::optional<ModelList> read_models(std::string_view body);

// Returns the field that the error names and that the refused request can leave out; empty if there
// is none.
std::string refused_field(const ServerError& error, std::string_view body);

}  // namespace groma::llm
