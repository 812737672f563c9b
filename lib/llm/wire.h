// Transport: makes one exchange with an endpoint, over HTTP, by a child process or from a
// recording.
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

// One request to an endpoint: a POST with a body, or a GET.
struct WireRequest {
  bool post = true;
  std::string path;  // relative to the endpoint: "/chat/completions"
  std::string body;  // JSON
  bool stream = false;
};

// Why an exchange did not complete.
enum class Failure {
  kNone,
  kRefused,         // the endpoint accepted no connection
  kUnknownHost,     // no address is known for the host
  kConnectTimeout,  // connecting took too long
  kCertificate,     // the server's certificate is not valid
  kTls,             // the TLS handshake failed; up to here, nothing of the request was sent
  kClosed,          // the server closed the connection without an answer
  kReset,           // the connection broke during the exchange
  kCut,             // the body is shorter than the server announced
  kIdle,            // the server sent nothing for too long
  kTotal,           // the exchange took longer than the total timeout
  kStopped,         // the caller stopped the exchange
  kTooLarge,        // the reply is larger than allowed
  kEncoding,        // the compressed data is broken
  kNotHttp,         // the server's answer is not HTTP
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

// The answer to one request, or why there is none. All texts are valid UTF-8 and contain no key.
struct WireReply {
  int status = 0;  // 0: no answer
  std::string content_type, server, location;
  std::optional<std::int64_t> retry_after_ms;
  // What the server says about retrying; nullopt if it says nothing.
  std::optional<bool> should_retry;
  std::string body;  // decoded, as far as it arrived
  // True if the body is the text of the reply itself, as a child process writes it.
  bool plain = false;
  Failure failure = Failure::kNone;
  std::string detail;  // the reason for the failure, in words
  bool sent = true;    // true: at least a part of the request was sent
  std::int64_t elapsed_ms = 0;

  bool done() const { return failure == Failure::kNone && status / 100 == 2; }
  bool is_stream() const;  // a stream of events, by its type or its beginning
};

// The limits of an exchange: how long it may take, who may stop it, and who receives a stream.
struct WireWatch {
  Clock::time_point deadline;
  std::function<bool()> stop;
  // Receives the bytes of an event stream while they arrive. Returns true if they brought text,
  // which restarts the idle timeout.
  std::function<bool(std::string_view)> on_body;
};

// A way to reach an endpoint. Several threads may use it at the same time.
class Transport {
 public:
  virtual ~Transport() = default;
  // Makes one exchange. A failure is part of the reply.
  virtual WireReply exchange(const WireRequest& request, const WireWatch& watch) = 0;
  // Returns false for a replay, which needs no waits between attempts.
  virtual bool waits_between_attempts() const { return true; }
  // For a recording, returns the position of the answer to this request; nullopt if there is none.
  virtual std::optional<std::size_t> position_of_answer(const WireRequest&) { return std::nullopt; }
  // For a recording, returns the fields that the recorded server refused.
  virtual std::vector<std::string> refused_fields() const { return {}; }
};

// Returns the URL for requests, without a final slash: "https://host:1/v1". Fails if a key would be
// sent over plain HTTP to another computer (ChatOptions::endpoint).
Result<std::string> normal_endpoint(const ChatOptions& options);

// The server with which a recording was made.
struct RecordingOrigin {
  ChatApi api = ChatApi::kOpenAi;
  std::string endpoint;  // empty if the recording does not have it
};

std::unique_ptr<Transport> make_http(const ChatOptions& options, std::vector<std::string> headers);
std::unique_ptr<Transport> make_exec(const ChatOptions& options);
Result<std::unique_ptr<Transport>> make_recorder(const ChatOptions& options,
                                                 std::unique_ptr<Transport> inner);
Result<std::unique_ptr<Transport>> make_replay(const ChatOptions& options,
                                               RecordingOrigin* recorded);

}  // namespace groma::llm
