// The result of an exchange: a reply or a verdict, and its cost.
#pragma once

#include "llm/verdict.h"

namespace groma::llm {

// The result of an attempt: a value, or a verdict.
template <typename T>
struct Step {
  std::optional<T> value;
  Verdict verdict;
};

// Reads the body of a successful exchange. A stream is read again as a whole, so that it and its
// recording are read in the same way.
ReadReply read_body(const Shape& shape, const WireReply& reply);

// Makes the reply. Moves the texts out of `*read`.
Step<ChatReply> conclude(const ChatRequest& request, const WireReply& reply, ReadReply* read,
                         const ChatOptions& options);

// Returns the most that a request may cost.
ChatUsage worst_case(const WireRequest& request, int max_tokens);

// Returns the cost of an exchange. For a complete reply it is what the server reports. Otherwise it
// is the worst case, or nothing if the server cannot have worked for the request.
ChatUsage cost_of(const WireReply& reply, const ReadReply& read, bool may_have_cost,
                  const ChatUsage& worst);

}  // namespace groma::llm
