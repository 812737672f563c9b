// A chat client: asks a language model over HTTP (OpenAI's shape or Anthropic's), over a child
// process, or out of a recording. It survives what endpoints do: it tells their failures apart,
// tries again where that helps, and never passes its ceilings. docs/llm.md is the manual.
//
// No exception leaves it. A key appears in no text that comes from here.
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

namespace groma {

// A secret. It can be given to a client and compared with none, not printed.
class ChatKey {
 public:
  ChatKey() = default;  // none
  bool empty() const { return text_.empty(); }
  // For whoever has keys from elsewhere; refuses what is no key (4 to 4096 visible ASCII
  // letters without `"` and `\`).
  static Result<ChatKey> make(std::string text);

 private:
  friend struct ChatKeyText;
  std::string text_;
};

// The key in `file`, which nobody but its owner may read, or, where no file is named, in the
// environment variable GROMA_API_KEY; none where that is unset. The file is one line of text.
Result<ChatKey> find_chat_key(const std::string& file);

enum class ChatApi { kOpenAi, kAnthropic };

// Money for a million tokens, in any one currency.
struct ChatPrice {
  double input = 0, output = 0;
};

// "0.15,0.6": input, output.
Result<ChatPrice> parse_chat_price(std::string_view text);

struct ChatOptions {
  // `https://host/v1`, `http://127.0.0.1:8080/v1`, or `exec:CMD`: CMD (for sh) reads the request as
  // JSON on its standard input and writes the reply's text. Without a path /v1 is meant. Empty: the
  // public endpoint of the API. Plain http takes a key only to this computer.
  std::string endpoint;
  ChatApi api = ChatApi::kOpenAi;
  std::string model;  // empty: the first that the endpoint lists
  ChatKey key;
  bool stream = false;

  std::optional<ChatPrice> price;
  // Ceilings on all that this client spends, also by retries; 0: none. Money needs the price. A
  // request waits for those of other threads where only what they may need stands in its way.
  std::int64_t max_tokens = 0;
  double max_money = 0;

  int connect_timeout_ms = 10'000;
  // Longest silence after the reply's text has begun. Before it only the total counts, since a
  // queue may take long.
  int idle_timeout_ms = 120'000;
  int total_timeout_ms = 600'000;  // of a call with its retries
  int attempts = 5;
  int backoff_ms = 1'000;  // before the second attempt; doubles, at most 30 s; a random part of it
  int max_retry_after_ms = 120'000;  // a server that wants a longer wait is not asked again
  std::size_t max_reply_bytes = std::size_t{8} << 20;  // as decoded, with all of a stream's events

  std::string record;  // every exchange is appended to this new file, for `replay`
  // Answers come from this file, without network and without waiting. Endpoint and API are those
  // of the recording. The key is used only to refuse prompts that contain it.
  std::string replay;
  std::string ca_file;     // certificates to trust instead of the system's
  LogSink* log = nullptr;  // attempts that failed, waits, fields left out; not owned
};

struct ChatMessage {
  enum class Role { kSystem, kUser, kAssistant };
  Role role = Role::kUser;
  std::string text;
};

// What the server is to keep the reply to, in its own way of asking for it; at most one of schema
// and grammar. Servers ignore such wishes in silence: parse every reply.
struct ChatConstraint {
  std::string json_schema;  // a JSON schema; strict servers want every property required
  std::string gbnf, lark;   // one grammar in two languages (groma::grammar); either may be empty
};

struct ChatRequest {
  std::vector<ChatMessage> messages;  // at least one
  std::optional<double> temperature;
  std::optional<std::int64_t> seed;
  int max_tokens = 1024;     // of the reply, thoughts included
  bool no_thinking = false;  // asks a model that thinks aloud not to
  ChatConstraint constraint;
};

struct ChatUsage {
  std::int64_t input_tokens = 0, output_tokens = 0;
  std::int64_t cached_tokens = 0;     // of the input
  std::int64_t reasoning_tokens = 0;  // of the output
  bool estimated = false;             // the server did not say: a token for three bytes
};

struct ChatReply {
  enum class Finish { kStop, kLength, kToolCall, kOther };
  std::string text;       // valid UTF-8; empty where all went into thoughts
  std::string reasoning;  // thoughts, from a field of their own or from <think>
  Finish finish = Finish::kStop;
  std::string model;  // as the server names it
  ChatUsage usage;    // of this reply
  std::optional<double> money;
  std::vector<std::string> left_out;  // wanted fields that the server does not take
  int attempts = 1;
  std::int64_t elapsed_ms = 0;  // exchanges, without the waits between them
};

struct ChatError {
  enum class Code {
    kUnreachable,     // no connection, or it broke; also on every retry
    kCertificate,     // the server is not who it should be
    kTimeout,         // silent for too long, or not done in time
    kStopped,         // by the caller
    kKey,             // refused: none, wrong, or not allowed this (401, 403)
    kNotFound,        // no such model or address (404), redirected
    kContextTooLong,  // the prompt does not fit; `context_tokens` is the limit where it was said
    kBadRequest,      // the server refuses the request
    kRateLimit,       // too many requests, for too long
    kQuota,           // no money or quota left there
    kServer,          // the server's own failure, also on every retry; a child that failed
    kBadReply,        // an answer, but no chat reply
    kNoText,          // a reply without text: a tool call, or nothing
    kRefusal,         // the model or a filter refuses
    kTooLarge,        // more than max_reply_bytes
    kCeiling,         // asking might pass max_tokens or max_money
    kUnsupported,     // the endpoint has no such thing
    kReplay,          // not what was recorded
  };
  Code code = Code::kUnreachable;
  std::string message;  // as in Error; may quote the server, bounded and printable
  std::string help = {};
  int status = 0;  // of HTTP, where there was one
  std::int64_t context_tokens = 0;
  bool of_money = false;  // kCeiling: max_money, not max_tokens
  int attempts = 1;
};

// What a client has spent. Exchanges that broke off, or whose cost the server does not say, count
// as what they may have cost at most.
struct ChatSpending {
  std::int64_t requests = 0, input_tokens = 0, output_tokens = 0;
  double money = 0;        // 0 without a price
  bool estimated = false;  // some of it
};

// One endpoint. Any number of threads may use one client at once; what they spend adds up.
class ChatClient {
 public:
  // Fails where the options contradict each other or a file cannot be opened. Connects to nothing.
  static Result<ChatClient> make(ChatOptions options);
  ChatClient(ChatClient&&) noexcept;
  ChatClient& operator=(ChatClient&&) noexcept;
  ~ChatClient();

  struct Watch {
    // Asked every 50 ms or more often, in the thread of the call; true ends it (kStopped).
    std::function<bool()> stop;
    // Text as it comes, where it is streamed, thoughts left out that have a field of their own. A
    // retry begins the text again: `restarted`.
    std::function<void(std::string_view text, bool restarted)> on_text;
  };

  // Returns when there is a reply, or no hope of one.
  Result<ChatReply, ChatError> ask(const ChatRequest& request, const Watch& watch = {});

  // The models that the endpoint lists.
  Result<std::vector<std::string>, ChatError> models(const Watch& watch = {});

  ChatSpending spent() const;
  // Of what the ceilings bound so much was spent before this client was made.
  void add_spent(std::int64_t tokens, double money);
  const ChatOptions& options() const;  // with the endpoint as it is asked

 private:
  class Impl;
  explicit ChatClient(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// What `groma llm check` says: whether the endpoint answers, has the model, and keeps replies to a
// schema and a grammar. Asks three small questions.
struct ChatCheck {
  std::string endpoint, wanted_model;
  std::optional<std::vector<std::string>> models;  // none where it does not list them
  ChatReply round;                                 // the plain question's
  enum class Obeys { kYes, kIgnored, kRefused };
  Obeys schema = Obeys::kRefused, grammar = Obeys::kRefused;
  bool structured() const { return schema == Obeys::kYes || grammar == Obeys::kYes; }
};

Result<ChatCheck, ChatError> check_chat(ChatClient& client, std::optional<double> temperature,
                                        const ChatClient::Watch& watch = {});

// Three lines: reachable and the model there; structured replies; latency and cost of a round.
std::string render(const ChatCheck& check);

// The same as one JSON document, and that of a failure, of a call or of ChatClient::make;
// docs/commands.md gives their shapes.
std::string to_json(const ChatCheck& check);
std::string to_json(const ChatError& error);
std::string to_json(const Error& error);

}  // namespace groma
