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
  // The path of the URL, relative to the endpoint: "/chat/completions".
  std::string path;
  // The body of the request, as JSON.
  std::string body;
  bool stream = false;
};

// Why an exchange with the endpoint did not complete. After a failure from kRefused to kTls,
// nothing of the request was sent.
enum class TransportFailure {
  kNone,
  kRefused,         // The endpoint accepted no connection.
  kUnknownHost,     // No address is known for the host of the endpoint.
  kConnectTimeout,  // Connecting to the endpoint took too long.
  kCertificate,     // The server's certificate is not valid.
  kTls,             // The TLS handshake failed.
  kClosed,          // The server closed the connection without an answer.
  kReset,           // The connection broke during the exchange.
  kCut,             // The body of the reply is shorter than the server announced.
  kIdle,            // The server sent nothing for too long.
  kTotal,           // The exchange took longer than the total timeout.
  kStopped,         // The caller stopped the exchange.
  kTooLarge,        // The reply is larger than allowed.
  kEncoding,        // The compressed data of the reply is broken.
  kNotHttp,         // The server's answer is not HTTP.
  kChild,           // The child process that answers requests failed.
  kRecording,       // The recording cannot be written, or does not contain this request.
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
  // The HTTP status of the answer. 0: there was no answer.
  int status = 0;
  std::string content_type, server, location;
  std::optional<std::int64_t> retry_after_ms;
  // What the server says about retrying; nullopt if it says nothing.
  std::optional<bool> should_retry;
  // The body of the answer after decompression, as far as it arrived.
  std::string body;
  // True if the body is the text of the reply itself, as a child process writes it.
  bool is_reply_text = false;
  TransportFailure failure = TransportFailure::kNone;
  // The reason for the failure, as text for a person.
  std::string detail;
  // True if at least a part of the request was sent.
  bool sent = true;
  std::int64_t elapsed_ms = 0;

  bool succeeded() const { return failure == TransportFailure::kNone && status / 100 == 2; }
  // Returns true if the body is a stream of events, to judge by its content type or its beginning.
  bool is_stream() const;
};

// The limits of an exchange: how long it may take, who may stop it, and who receives a stream.
struct ExchangeControl {
  Clock::time_point deadline;
  std::function<bool()> stop;
  // Receives the bytes of an event stream while they arrive. Returns true if they brought text,
  // which restarts the idle timeout.
  std::function<bool(std::string_view)> on_body;
};

// Sends requests to an endpoint: over HTTP, to a child process, or to a recording that answers.
// Several threads may use one Transport at the same time.
class Transport {
 public:
  virtual ~Transport() = default;
  // Makes one exchange. A failure is part of the reply.
  virtual WireReply exchange(const WireRequest& request, const ExchangeControl& watch) = 0;
  // Returns false for a replay, which needs no waits between attempts.
  virtual bool waits_between_attempts() const { return true; }
  // For a recording, returns the position of the answer to this request; nullopt if there is none.
  virtual std::optional<std::size_t> position_of_answer(const WireRequest&) { return std::nullopt; }
  // For a recording, returns the fields that the recorded server refused.
  virtual std::vector<std::string> refused_fields() const { return {}; }
};

// Returns the URL for requests, without a final slash: "https://host:1/v1". Fails if a key would be
// sent over plain HTTP to another computer (ChatOptions::endpoint).
Result<std::string> normalized_endpoint(const ChatOptions& options);

// The server with which a recording was made.
struct RecordingOrigin {
  ChatApi api = ChatApi::kOpenAi;
  // The endpoint of the recorded server. Empty if the recording does not contain it.
  std::string endpoint;
};

std::unique_ptr<Transport> make_http_transport(const ChatOptions& options,
                                               std::vector<std::string> headers);
std::unique_ptr<Transport> make_command_transport(const ChatOptions& options);
Result<std::unique_ptr<Transport>> make_recording_transport(const ChatOptions& options,
                                                            std::unique_ptr<Transport> inner);
Result<std::unique_ptr<Transport>> make_replay_transport(const ChatOptions& options,
                                                         RecordingOrigin* recorded);

}  // namespace groma::llm
