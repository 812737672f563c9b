// Verdict: what an unsuccessful exchange means: whose fault it is, and whether to ask again.
#pragma once

#include "llm/shape.h"

namespace groma::llm {

struct Verdict {
  ChatError error;
  bool again = false;                        // another attempt may help
  std::optional<std::int64_t> wait_ms = {};  // wait that the server asks for
  bool may_have_cost = false;                // the server may have worked for the request
};

// Judges an exchange that failed, or whose status is not a success.
Verdict judge(const WireReply& reply, const std::string& endpoint);

// Judges an error that a server reported in a body or an event. `status` is the status of the
// exchange, which may be a success.
Verdict judge_error(const ServerError& error, int status);

// Returns the verdict on an answer with a success status whose body is not a reply of a model.
Verdict judge_wrong(const WireReply& reply, const std::string& why);

}  // namespace groma::llm
