// What an exchange came to: a reply or a verdict, and what it counts as.
#pragma once

#include "llm/verdict.h"

namespace groma::llm {

// What an attempt ended with: a value, or a verdict.
template <typename T>
struct Step {
  std::optional<T> value;
  Verdict verdict;
};

// What the body of a success says; a stream's again from its whole, so that it and its recording
// are read in one way.
ReadReply read_body(const Shape& shape, const WireReply& reply);

// Takes the texts of `*read`.
Step<ChatReply> conclude(const ChatRequest& request, const WireReply& reply, ReadReply* read,
                         const ChatOptions& options);

// What a request may cost at most.
ChatUsage worst_case(const WireRequest& request, int max_tokens);

// What an exchange counts as: what the server says of a reply that came to its end, else the worst
// case, or nothing where it cannot have worked for it.
ChatUsage cost_of(const WireReply& reply, const ReadReply& read, bool may_have_cost,
                  const ChatUsage& worst);

}  // namespace groma::llm
