// FailureVerdict: the error of a failed exchange, with the information whether to try again and
// whether the exchange may have cost money.
#pragma once

#include "llm/chat_format.h"

namespace groma::llm {

// The judgement on a failed exchange with a chat server.
struct FailureVerdict {
  ChatError error;
  // True if another attempt may succeed.
  bool may_retry = false;
  // The wait before the next attempt that the server asks for, in milliseconds. nullopt: none.
  std::optional<std::int64_t> wait_ms = {};
  // True if the server may have worked on the request, so that the failed exchange may cost money.
  bool may_have_cost = false;
};

// Judges an exchange that failed, or whose status is not a success.
FailureVerdict judge_failed_exchange(const WireReply& reply, const std::string& endpoint);

// Judges an error that a server reported in a body or an event. `status` is the HTTP status of the
// exchange, which may be a success.
FailureVerdict judge_server_error(const ServerError& error, int status);

// Judges an answer whose status is a success but whose body is not the reply of a model.
FailureVerdict judge_unusable_reply(const WireReply& reply, const std::string& why);

}  // namespace groma::llm
