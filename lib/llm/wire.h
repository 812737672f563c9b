// One exchange with an endpoint, whatever carries it: HTTP, a child process, a recording.
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
  std::string path;  // below the endpoint: "/chat/completions"
  std::string body;  // JSON
  bool stream = false;
};

// Why an exchange did not come to its end.
enum class Failure {
  kNone,
  kRefused,         // no connection
  kUnknownHost,     //
  kConnectTimeout,  //
  kCertificate,     //
  kTls,             // no handshake: before anything was sent, as all before it
  kClosed,          // no answer
  kReset,           // in the middle
  kCut,             // shorter than announced
  kIdle,            // silent for too long
  kTotal,           // out of time
  kStopped,         //
  kTooLarge,        //
  kEncoding,        // compressed, but broken
  kNotHttp,         //
  kChild,           // the child process failed
  kRecording,       // cannot be written, or does not hold this request
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

// All texts are valid UTF-8 and hold no key.
struct WireReply {
  int status = 0;  // 0: no answer
  std::string content_type, server, location;
  std::optional<std::int64_t> retry_after_ms;
  std::optional<bool> should_retry;  // the server's own word
  std::string body;                  // decoded, as far as it came
  bool plain = false;                // the body is the reply's text (a child's)
  Failure failure = Failure::kNone;
  std::string detail;  // of the failure
  bool sent = true;    // some of the request was
  std::int64_t elapsed_ms = 0;

  bool done() const { return failure == Failure::kNone && status / 100 == 2; }
  bool is_stream() const;  // of events, as its type or its beginning says
};

struct WireWatch {
  Clock::time_point deadline;
  std::function<bool()> stop;
  // Bytes of a stream of events, as they come. True when they brought text: silence is counted from
  // there.
  std::function<bool(std::string_view)> on_body;
};

// May be used by several threads at once.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual WireReply exchange(const WireRequest& request, const WireWatch& watch) = 0;
  virtual bool waits() const { return true; }  // between attempts
  // Of a recording: where the answer to this request stands; none where it is not held.
  virtual std::optional<std::size_t> place_of(const WireRequest&) { return std::nullopt; }
  // Of a recording: the fields that its server refused.
  virtual std::vector<std::string> refused() const { return {}; }
};

// Where requests go: "https://host:1/v1", without a final slash; the rules for keys hold for it.
Result<std::string> normal_endpoint(const ChatOptions& options);

// What a recording is of.
struct Recorded {
  ChatApi api = ChatApi::kOpenAi;
  std::string endpoint;  // none in those that do not say
};

std::unique_ptr<Transport> make_http(const ChatOptions& options, std::vector<std::string> headers);
std::unique_ptr<Transport> make_exec(const ChatOptions& options);
Result<std::unique_ptr<Transport>> make_recorder(const ChatOptions& options,
                                                 std::unique_ptr<Transport> inner);
Result<std::unique_ptr<Transport>> make_replay(const ChatOptions& options, Recorded* recorded);

}  // namespace groma::llm
