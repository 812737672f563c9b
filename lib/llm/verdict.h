// Verdict: the error of a failed exchange, with the information whether to try again and whether
// the exchange may have cost money.
#pragma once

#include "llm/chat_format.h"

namespace groma::llm {

// The judgement on a failed exchange.
struct Verdict {
  ChatError error;
  bool again = false;                        // another attempt may help
  std::optional<std::int64_t> wait_ms = {};  // wait that the server asks for
  bool may_have_cost = false;                // the server may have worked on the request
};

// Judges an exchange that failed, or whose status is not a success.
Verdict judge(const WireReply& reply, const std::string& endpoint);

// Judges an error that a server reported in a body or an event. `status` is the HTTP status of the
// exchange, which may be a success.
Verdict judge_error(const ServerError& error, int status);

// Judges an answer whose status is a success but whose body is not the reply of a model.
Verdict judge_wrong(const WireReply& reply, const std::string& why);

}  // namespace groma::llm
