// Judges failed exchanges. A verdict has the error code and the message. It also says whether
// another attempt may help, and whether the exchange may have cost something.
#include "llm/verdict.h"

#include <fmt/format.h>

#include <algorithm>

#include "llm/text.h"

namespace groma::llm {
namespace {

using Code = ChatError::Code;

// Returns true if the text contains one of the words.
bool has_any(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(),
                     [text](std::string_view word) { return text.find(word) != text.npos; });
}

// Returns true if the server says that the prompt is too long. Servers use different codes and
// words for this.
bool is_context(const ServerError& error) {
  return error.code == "context_length_exceeded" || error.type == "exceed_context_size_error" ||
         has_any(error.message, {"context length", "context size", "context window",
                                 "prompt is too long", "requested tokens"});
}

// Returns true if the server says that the account has no money or quota left.
bool is_quota(const ServerError& error) {
  for (const std::string& kind : {error.code, error.type}) {
    if (has_any(kind, {"insufficient_quota", "billing", "spend_limit", "credit_balance"}))
      return true;
  }
  return has_any(error.message,
                 {"exceeded your current quota", "credit balance", "insufficient balance"});
}

// Returns the HTTP status that an error means. Some servers send an error with a success status.
// The status then follows from the type or the code of the error.
int status_of(const ServerError& error, int status) {
  if (status / 100 != 2) return status;
  if (error.status != 0) return error.status;
  if (has_any(error.type + error.code, {"overloaded"})) return 529;
  if (has_any(error.type + error.code, {"rate_limit"})) return 429;
  if (has_any(error.type + error.code, {"invalid_request"})) return 400;
  if (has_any(error.type + error.code, {"authentication"})) return 401;
  return 500;
}

// Returns the error code for an HTTP status that is not a success.
Code code_of(int status) {
  switch (status) {
    case 401:
    case 403:
      return Code::kKey;
    case 402:
      return Code::kQuota;
    case 404:
    case 405:
      return Code::kNotFound;
    case 429:
      return Code::kRateLimit;
    default:
      if (status >= 500 || status == 408 || status == 409 || status == 425) return Code::kServer;
      return status >= 300 && status < 400 ? Code::kNotFound : Code::kBadRequest;
  }
}

// Returns the help line for an error code; an empty text if there is none.
std::string help_for(Code code) {
  switch (code) {
    case Code::kKey:
      return "put a key into GROMA_API_KEY, or into a file named with --key-file";
    case Code::kNotFound:
      return "is the address right (most end in /v1), and does it have the model?";
    case Code::kQuota:
      return "waiting does not help";
    default:
      return "";
  }
}

// How a failure of the transport is reported, whether another attempt may help, and whether the
// server may have worked on the request.
struct FailureWords {
  Code code;
  const char* words;
  bool again, may_have_cost;
};

// Returns how a failure of the transport is reported. A failure that is not listed means that the
// connection broke.
FailureWords words_of(TransportFailure failure) {
  switch (failure) {
    case TransportFailure::kRefused:
      return {Code::kUnreachable, "nobody answers", true, false};
    case TransportFailure::kUnknownHost:
      return {Code::kUnreachable, "no such host", true, false};
    case TransportFailure::kConnectTimeout:
      return {Code::kTimeout, "no connection in time", true, false};
    case TransportFailure::kCertificate:
      return {Code::kCertificate, "its certificate is not to be trusted", false, false};
    case TransportFailure::kTls:
      return {Code::kUnreachable, "no secure connection", true, false};
    case TransportFailure::kClosed:
      return {Code::kUnreachable, "it closed the connection without an answer", true, true};
    case TransportFailure::kIdle:
      return {Code::kTimeout, "it fell silent", true, true};
    case TransportFailure::kTotal:
      return {Code::kTimeout, "out of time", false, true};
    case TransportFailure::kStopped:
      return {Code::kStopped, "stopped", false, true};
    case TransportFailure::kTooLarge:
      return {Code::kTooLarge, "the reply is larger than it may be", false, true};
    case TransportFailure::kEncoding:
      return {Code::kBadReply, "its compressed reply is broken", false, true};
    case TransportFailure::kNotHttp:
      return {Code::kBadReply, "what answers is no HTTP server", false, false};
    case TransportFailure::kChild:
      return {Code::kServer, "the command failed", false, true};
    case TransportFailure::kRecording:
      return {Code::kReplay, "the recording", false, false};
    default:
      return {Code::kUnreachable, "the connection broke", true, true};
  }
}

}  // namespace

// Recognises an exceeded quota and a prompt that is too long by the words of the server, since
// servers send different statuses for them.
FailureVerdict judge_server_error(const ServerError& error, int status) {
  FailureVerdict verdict;
  const int meant = status_of(error, status);
  verdict.error.status = status;
  verdict.error.code = code_of(meant);
  if (is_quota(error)) {
    verdict.error.code = Code::kQuota;
  } else if (is_context(error) && meant != 429) {
    verdict.error.code = Code::kContextTooLong;
    verdict.error.context_tokens = error.context_tokens;
  }
  const Code code = verdict.error.code;
  const std::string quoted = printable_line(error.message);
  verdict.error.message =
      fmt::format("the server answers {}{}{}", status, quoted.empty() ? "" : ": ", quoted);
  verdict.error.help = help_for(code);
  verdict.may_retry = (code == Code::kServer && meant != 501) || code == Code::kRateLimit;
  // With any other status, the server refused the request before it worked on it.
  const bool begun = status >= 500 && status != 501 && status != 503 && status != 529;
  verdict.may_have_cost = status / 100 == 2 || status == 408 || begun;
  return verdict;
}

// A redirection is an error, because the key must not go to another address. If the server says
// whether a client should retry, the verdict says the same, except after an exceeded quota.
FailureVerdict judge_failed_exchange(const WireReply& reply, const std::string& endpoint) {
  if (reply.failure != TransportFailure::kNone) {
    const FailureWords words = words_of(reply.failure);
    FailureVerdict verdict;
    verdict.error.code = words.code;
    verdict.error.status = reply.status;
    const std::string detail = printable_line(reply.detail, 600);
    verdict.error.message =
        reply.failure == TransportFailure::kRecording
            ? detail
            : fmt::format("{}: {}{}{}", endpoint, words.words, detail.empty() ? "" : ": ", detail);
    if (reply.failure == TransportFailure::kRefused) verdict.error.help = "is the server running?";
    if (reply.failure == TransportFailure::kTotal || reply.failure == TransportFailure::kIdle) {
      verdict.error.help = "a slow model needs a longer `--reply-timeout`";
    }
    verdict.may_retry = words.again;
    const bool answered = reply.failure == TransportFailure::kRecording && reply.status != 0;
    verdict.may_have_cost = (words.may_have_cost && reply.sent) || answered;
    return verdict;
  }
  ServerError error = read_error(reply.body).value_or(ServerError{});
  if (error.message.empty()) error.message = reply.body;
  if (reply.status >= 300 && reply.status < 400) {
    error.message = "it is elsewhere, and nothing is sent there: " + reply.location;
  }
  FailureVerdict verdict = judge_server_error(error, reply.status);
  verdict.wait_ms = reply.retry_after_ms;
  if (reply.should_retry && verdict.error.code != Code::kQuota)
    verdict.may_retry = *reply.should_retry;
  return verdict;
}

// The message quotes the beginning of the body. A web page gets the help for a wrong address.
FailureVerdict judge_unusable_reply(const WireReply& reply, const std::string& why) {
  FailureVerdict verdict;
  verdict.error.code = Code::kBadReply;
  verdict.error.status = reply.status;
  verdict.error.message = fmt::format("what the server answers is not a chat reply: {}", why);
  const std::string begin = printable_line(reply.body, 100);
  if (!begin.empty()) verdict.error.message += fmt::format(" (`{}`)", begin);
  if (reply.content_type.starts_with("text/html")) verdict.error.help = help_for(Code::kNotFound);
  verdict.may_have_cost = true;
  return verdict;
}

}  // namespace groma::llm
