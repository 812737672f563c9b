// What an exchange means when it was no success: whose fault, and whether to ask again.
#pragma once

#include "llm/shape.h"

namespace groma::llm {

struct Verdict {
  ChatError error;
  bool again = false;                        // another attempt may help
  std::optional<std::int64_t> wait_ms = {};  // what the server asks for
  bool may_have_cost = false;                // the server may have worked for it
};

// Of an exchange that failed, or whose status is no success.
Verdict judge(const WireReply& reply, const std::string& endpoint);

// Of an error that a server told, in a body or an event, under this status (a success where it hid
// it).
Verdict judge_error(const ServerError& error, int status);

// Of a success that is no reply.
Verdict judge_wrong(const WireReply& reply, const std::string& why);

}  // namespace groma::llm
