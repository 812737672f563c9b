// Transport: one exchange with an endpoint, over HTTP, a child process or a recording.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "groma/llm.h"

namespace groma::llm {

using Clock = std::chrono::steady_clock;

struct WireRequest {
  bool post = true;
  std::string path;  // relative to the endpoint: "/chat/completions"
  std::string body;  // JSON
  bool stream = false;
};

// Why an exchange did not complete.
enum class Failure {
  kNone,
  kRefused,         // no connection
  kUnknownHost,     //
  kConnectTimeout,  //
  kCertificate,     //
  kTls,             // no TLS handshake; like the failures above, before anything was sent
  kClosed,          // closed without an answer
  kReset,           // the connection broke in the middle
  kCut,             // shorter than announced
  kIdle,            // silent for too long
  kTotal,           // the total time is over
  kStopped,         //
  kTooLarge,        //
  kEncoding,        // compressed data is broken
  kNotHttp,         //
  kChild,           // the child process failed
  kRecording,       // the recording cannot be written, or does not hold this request
};
inline constexpr std::string_view kFailureNames[] = {"",
                                                     "refused",
                                                     "unknown-host",
                                                     "connect-timeout",
                                                     "certificate",
                                                     "tls",
                                                     "closed",
                                                     "reset",
                                                     "cut",
                                                     "idle",
                                                     "total",
                                                     "stopped",
                                                     "too-large",
                                                     "encoding",
                                                     "not-http",
                                                     "child",
                                                     "recording"};

// The result of an exchange. All texts are valid UTF-8 and contain no key.
struct WireReply {
  int status = 0;  // 0: no answer
  std::string content_type, server, location;
  std::optional<std::int64_t> retry_after_ms;
  std::optional<bool> should_retry;  // the server's own statement
  std::string body;                  // decoded, as far as it arrived
  bool plain = false;                // the body is the text of the reply (child process)
  Failure failure = Failure::kNone;
  std::string detail;  // detail of the failure
  bool sent = true;    // at least a part of the request was sent
  std::int64_t elapsed_ms = 0;

  bool done() const { return failure == Failure::kNone && status / 100 == 2; }
  bool is_stream() const;  // a stream of events, by its type or its beginning
};

struct WireWatch {
  Clock::time_point deadline;
  std::function<bool()> stop;
  // Receives the bytes of an event stream as they come. Returns true if they brought text; the idle
  // timeout then starts again.
  std::function<bool(std::string_view)> on_body;
};

// A way to reach an endpoint. Several threads may use it at once.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual WireReply exchange(const WireRequest& request, const WireWatch& watch) = 0;
  virtual bool waits() const { return true; }  // whether to wait between attempts
  // For a recording: returns the position of the answer to this request; nullopt if there is none.
  virtual std::optional<std::size_t> place_of(const WireRequest&) { return std::nullopt; }
  // For a recording: returns the fields that its server refused.
  virtual std::vector<std::string> refused() const { return {}; }
};

// Returns the URL for requests, "https://host:1/v1" without a final slash. The rules for keys hold
// for it.
Result<std::string> normal_endpoint(const ChatOptions& options);

// The origin of a recording.
struct Recorded {
  ChatApi api = ChatApi::kOpenAi;
  std::string endpoint;  // empty if the recording does not have it
};

std::unique_ptr<Transport> make_http(const ChatOptions& options, std::vector<std::string> headers);
std::unique_ptr<Transport> make_exec(const ChatOptions& options);
Result<std::unique_ptr<Transport>> make_recorder(const ChatOptions& options,
                                                 std::unique_ptr<Transport> inner);
Result<std::unique_ptr<Transport>> make_replay(const ChatOptions& options, Recorded* recorded);

}  // namespace groma::llm
