// What requests and replies look like: OpenAI's shape and Anthropic's, and how servers ask for
// structured replies. Reads whatever it is given.
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

// As far as it decides how a schema or a grammar is asked for.
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

// What is known of a server's habits.
struct Dialect {
  Server server = Server::kUnknown;
  bool completion_limit = false;   // `max_completion_tokens` for `max_tokens`
  std::set<std::string> left_out;  // fields that it refuses
};

struct ServerError {
  std::string message, type, code, param;
  int status = 0;  // where the code is one of HTTP's
  std::int64_t context_tokens = 0;
};

// The tool that a structured reply may travel as.
inline constexpr const char* kReplyTool = "reply";

// What a body or a stream said.
struct ReadReply {
  std::string text, reasoning, refusal, tool, model, finish;
  bool has_text = false;                                       // some content, were it empty
  ChatUsage counted{.input_tokens = -1, .output_tokens = -1};  // -1: not said
  std::optional<ServerError> error;
  std::string wrong;  // why it is no reply: "`choices` is empty"

  // Only where both are said, and not both are nothing.
  std::optional<ChatUsage> usage() const;
};

class Shape {
 public:
  virtual ~Shape() = default;
  // A whole body.
  ReadReply read(std::string_view body) const;
  // The data of one event of a stream. Whether text or thoughts came.
  bool add_event(std::string_view data, ReadReply* reply) const;

  virtual const char* path() const = 0;
  virtual std::vector<std::string> headers(const std::string& key) const = 0;
  // A field that it does not have.
  virtual const char* lacks() const { return ""; }
  // Why the constraint cannot be asked for; empty where it can.
  virtual std::string unsupported(const ChatConstraint& constraint, Server server) const = 0;
  virtual std::string body(const ChatRequest& request, const std::string& model, bool stream,
                           const Dialect& dialect) const = 0;

 private:
  // What is left to read when errors, usage and the model's name are.
  virtual void read_rest(const nlohmann::json& body, ReadReply* reply) const = 0;
  virtual void read_event(const nlohmann::json& event, ReadReply* reply) const = 0;
  virtual void add_usage(const nlohmann::json& value, ReadReply* reply) const = 0;
};

const Shape& openai_shape();
const Shape& anthropic_shape();

// The error that a body is, if it is one.
std::optional<ServerError> read_error(std::string_view body);

struct ModelList {
  std::vector<std::string> names;
  Server server = Server::kUnknown;
};
std::optional<ModelList> read_models(std::string_view body);

// Of a refused request, the field that the error names and that can be left out; or empty.
std::string refused_field(const ServerError& error, std::string_view body);

}  // namespace groma::llm
