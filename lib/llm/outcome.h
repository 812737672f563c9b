// The result of an exchange: a reply or a verdict, and its cost.
#pragma once

#include "llm/verdict.h"

namespace groma::llm {

// The result of one attempt: a value, or the verdict on a failure.
template <typename T>
struct AttemptResult {
  std::optional<T> value;
  Verdict verdict;
};

// Parses the body of a successful exchange. A stream was already parsed while it arrived; here its
// whole body is parsed again, so that a live stream and a replay give the same result.
ParsedReply read_body(const ChatFormat& format, const WireReply& reply);

// Makes the reply from the parsed body, or the verdict if it is not a usable reply. Moves the texts
// out of `*read`.
AttemptResult<ChatReply> conclude(const ChatRequest& request, const WireReply& reply,
                                  ParsedReply* read, const ChatOptions& options);

// Returns the most that a request may cost.
ChatUsage worst_case(const WireRequest& request, int max_tokens);

// Returns the cost of an exchange. For a complete reply it is what the server reports. Otherwise it
// is the worst case, or nothing if the server cannot have worked for the request.
ChatUsage cost_of(const WireReply& reply, const ParsedReply& read, bool may_have_cost,
                  const ChatUsage& worst);

}  // namespace groma::llm
