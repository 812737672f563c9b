// A chat client: asks a language model over HTTP (in OpenAI's or Anthropic's format), through a
// child process, or from a recording. It distinguishes the failures of endpoints, retries where a
// retry can help, and never exceeds its spending limits. docs/llm.md is the manual.
//
// The client throws no exceptions. A key never appears in a text that it returns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "groma/log.h"
#include "groma/result.h"

namespace groma::llm {

// A secret key. It can be given to a client. It cannot be printed, and the only comparison is
// empty().
class ChatKey {
 public:
  // Makes an empty key.
  ChatKey() = default;
  bool empty() const { return text_.empty(); }
  // Makes a key from another source. Fails if `text` is not 4 to 4096 visible ASCII characters
  // without `"` and `\`.
  static Result<ChatKey> make(std::string text);

 private:
  friend struct ChatKeyText;
  std::string text_;
};

// Returns the key in `file`, a file with one line of text that only its owner may read. If `file`
// is empty, returns the value of the environment variable GROMA_API_KEY, or an empty key if it is
// not set.
Result<ChatKey> find_chat_key(const std::string& file);

// The format of requests and replies.
enum class ChatApi { kOpenAi, kAnthropic };

// The price of a million tokens, in any one currency.
struct ChatPrice {
  double input = 0, output = 0;
};

// Parses the prices of a million input tokens and a million output tokens, "INPUT,OUTPUT", for
// example "0.15,0.6".
Result<ChatPrice> parse_chat_price(std::string_view text);

// Options of a chat client: the endpoint, the model, limits on spending and time, and files.
struct ChatOptions {
  // The address of the server: one of `https://host/v1`, `http://127.0.0.1:8080/v1` and `exec:CMD`.
  // CMD (for sh) reads the request as JSON on its standard input and writes the text of the reply.
  // A URL without a path means /v1. Empty: the public endpoint of the API. A key is sent over plain
  // http only to this computer.
  std::string endpoint;
  ChatApi api = ChatApi::kOpenAi;
  // The name of the model. If it is empty, the first model that the endpoint lists is used.
  std::string model;
  ChatKey key;
  bool stream = false;

  std::optional<ChatPrice> price;
  // Limits on everything that this client spends, retries included; 0: no limit. max_money needs
  // `price`. Each running request reserves reserved_usage(). A request that these reservations
  // leave no room for waits until they are released.
  std::int64_t max_tokens = 0;
  double max_money = 0;

  int connect_timeout_ms = 10'000;
  // The longest pause after the reply's text has begun. Before that, only the total timeout
  // applies, since the request may wait in the server's queue.
  int idle_timeout_ms = 120'000;
  // The limit on the time of one call with all its retries, in milliseconds.
  int total_timeout_ms = 600'000;
  int attempts = 5;
  // The wait before the second attempt, in milliseconds. It doubles for each further attempt, up to
  // 30 s; a random part of it is used.
  int backoff_ms = 1'000;
  // If a server asks for a longer wait than this, in milliseconds, the call fails without a further
  // attempt.
  int max_retry_after_ms = 120'000;
  // Limit on the decoded bytes of a reply, including all events of a stream.
  std::size_t max_reply_bytes = std::size_t{8} << 20;

  // The new file to which the client appends every exchange with the endpoint. A client with the
  // option `replay` can read it. Empty: nothing is recorded.
  std::string record;
  // A file that was made with the option `record`. All replies come from it, without network and
  // without waiting. Endpoint and API are those of the recording. The key is used only to refuse
  // prompts that contain it. Empty: the endpoint is asked.
  std::string replay;
  // A file with certificates to trust instead of those of the system.
  std::string ca_file;
  // The sink is told of failed attempts, waits and request fields that are left out. It is not
  // owned, and may be null.
  LogSink* log = nullptr;
};

// One message of a conversation.
struct ChatMessage {
  enum class Role { kSystem, kUser, kAssistant };
  Role role = Role::kUser;
  std::string text;
};

// The format that the server should enforce on the reply. Set at most one of schema and grammar.
// Servers may silently ignore a constraint, so parse every reply.
struct ChatConstraint {
  // A JSON schema. Strict servers want every property to be required.
  std::string json_schema;
  // One grammar in two notations (groma::grammar). Either may be empty.
  std::string gbnf, lark;
};

// A request to a chat model: the conversation and the options of the reply.
struct ChatRequest {
  // The conversation. It has at least one message.
  std::vector<ChatMessage> messages;
  std::optional<double> temperature;
  std::optional<std::int64_t> seed;
  // The limit on the tokens of the reply, including reasoning.
  int max_tokens = 1024;
  // Asks a reasoning model not to reason.
  bool no_thinking = false;
  ChatConstraint constraint;
};

// The numbers of tokens that an exchange with a model used.
struct ChatUsage {
  std::int64_t input_tokens = 0, output_tokens = 0;
  // The part of the input that the server had cached.
  std::int64_t cached_tokens = 0;
  // The part of the output that is reasoning.
  std::int64_t reasoning_tokens = 0;
  // True if the server did not report both counts. Missing counts are estimate_tokens() of the
  // text.
  bool estimated = false;
};

// Returns an estimate of the tokens in a text: one for every 3.5 bytes, and at least 1. Tokenizers
// work on bytes too, so this holds for any language. docs/llm.md says how it was measured.
std::int64_t estimate_tokens(std::string_view text);

// Returns the tokens that a client reserves before it sends the request: an estimate for the
// messages and the schema, and the whole limit of the reply.
ChatUsage reserved_usage(const ChatRequest& request);

// The reply of a chat model, with its cost.
struct ChatReply {
  enum class Finish { kStop, kLength, kToolCall, kOther };
  // The text, in valid UTF-8. It is empty if the reply is all reasoning.
  std::string text;
  // The reasoning, from a separate field of the reply or from <think>.
  std::string reasoning;
  Finish finish = Finish::kStop;
  // The name that the server gives the model.
  std::string model;
  // The tokens of this reply.
  ChatUsage usage;
  // The cost of this reply. nullopt if the price is unknown.
  std::optional<double> money;
  // The requested fields that the server does not accept.
  std::vector<std::string> left_out;
  int attempts = 1;
  // The time of the exchanges, without the waits between them.
  std::int64_t elapsed_ms = 0;
};

// The reason why a chat request failed.
struct ChatError {
  enum class Code {
    // No attempt reached the server, or the connection broke.
    kUnreachable,
    // The certificate of the server is not valid.
    kCertificate,
    // The server sent nothing for too long, or its reply took too long.
    kTimeout,
    // The caller stopped the request.
    kStopped,
    // The key is missing, wrong, or not allowed to make this request (HTTP 401 or 403).
    kKey,
    // The model or the address is unknown (HTTP 404), or the server redirects.
    kNotFound,
    // The prompt is too long for the model. `context_tokens` is the limit, if it is known.
    kContextTooLong,
    // The server refuses the request as malformed.
    kBadRequest,
    // The server refused every attempt because of too many requests.
    kRateLimit,
    // The account at the server has no money or quota left.
    kQuota,
    // The server failed in every attempt, or the child process failed.
    kServer,
    // The answer of the server is not a chat reply.
    kBadReply,
    // The reply has no text. It is a tool call, or it is empty.
    kNoText,
    // The model or a filter refuses to answer.
    kRefusal,
    // The reply has more than max_reply_bytes.
    kTooLarge,
    // The request was not sent, because it might exceed max_tokens or max_money.
    kCeiling,
    // The endpoint does not offer what the request asks for.
    kUnsupported,
    // The request differs from the recorded request.
    kReplay,
  };
  Code code = Code::kUnreachable;
  // The message, as in Error. It may quote the server, and is bounded and printable.
  std::string message;
  std::string help = {};
  // The HTTP status. 0 if there was none.
  int status = 0;
  // The limit of the model in tokens, after a kContextTooLong error. 0 if it is unknown.
  std::int64_t context_tokens = 0;
  // Only for a kCeiling error: true if the request would exceed max_money, false if max_tokens.
  bool of_money = false;
  int attempts = 1;
};

// The requests, tokens and money that a chat client has spent. If the server does not report the
// tokens of a complete reply, they are estimated from the texts of the request and of the reply. If
// an exchange broke off, its reply counts with the whole limit, because the server may have written
// it.
struct ChatSpending {
  std::int64_t requests = 0, input_tokens = 0, output_tokens = 0;
  // The cost. It is 0 if the price is unknown.
  double money = 0;
  // True if a part of the spending is estimated.
  bool estimated = false;
};

// A client of one endpoint. Any number of threads may use it at once; their spending adds up.
class ChatClient {
 public:
  // Makes a client. Does not connect. Fails if the options contradict each other or a file cannot
  // be opened.
  static Result<ChatClient> make(ChatOptions options);
  ChatClient(ChatClient&&) noexcept;
  ChatClient& operator=(ChatClient&&) noexcept;
  ~ChatClient();

  struct ReplyWatcher {
    // A function that is called at least every 50 ms, in the thread of the call. If it returns
    // true, the call ends with kStopped.
    std::function<bool()> stop;
    // Receives the text of a streamed reply as it comes, without reasoning that has a separate
    // field. A retry begins the text again; `restarted` is then true.
    std::function<void(std::string_view text, bool restarted)> on_text;
  };

  // Asks the model. Returns the reply, or the error once a retry cannot help.
  Result<ChatReply, ChatError> ask(const ChatRequest& request, const ReplyWatcher& watch = {});

  // Returns the models that the endpoint lists.
  Result<std::vector<std::string>, ChatError> models(const ReplyWatcher& watch = {});

  // Returns what this client has spent.
  ChatSpending spent() const;
  // Adds spending from before this client was made. It counts towards the limits.
  void add_spent(std::int64_t tokens, double money);
  // Returns the options, with the resolved endpoint.
  const ChatOptions& options() const;

 private:
  class Impl;
  explicit ChatClient(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// The result of `groma llm check`: whether the endpoint answers, has the model, and makes replies
// follow a schema and a grammar.
struct ChatCheck {
  std::string endpoint, wanted_model;
  // The names of the models that the endpoint lists. nullopt if the endpoint has no such list.
  std::optional<std::vector<std::string>> models;
  // The endpoint's reply to the one question that asks for no particular format.
  ChatReply round;
  enum class Obeys { kYes, kIgnored, kRefused };
  Obeys schema = Obeys::kRefused, grammar = Obeys::kRefused;
  bool structured() const { return schema == Obeys::kYes || grammar == Obeys::kYes; }
};

// Checks the endpoint with three small questions.
Result<ChatCheck, ChatError> check_chat(ChatClient& client, std::optional<double> temperature,
                                        const ChatClient::ReplyWatcher& watch = {});

// Returns three lines: whether the endpoint is reachable and has the model; structured replies;
// latency and cost of one exchange.
std::string render(const ChatCheck& check);

// Returns the result as one JSON document. The other overloads do the same for the failure of a
// call or of ChatClient::make. docs/commands.md describes the shapes.
std::string to_json(const ChatCheck& check);
std::string to_json(const ChatError& error);
std::string to_json(const Error& error);

}  // namespace groma::llm
