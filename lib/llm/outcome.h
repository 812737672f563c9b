// Turns an exchange into its result, which is a reply or a verdict on a failure, and computes its
// cost.
#pragma once

#include "llm/verdict.h"

namespace groma::llm {

// The result of one attempt: a value, or the verdict on a failure.
template <typename T>
struct AttemptResult {
  std::optional<T> value;
  FailureVerdict verdict;
};

// Parses the body of a successful exchange. A stream was already parsed while it arrived. Its whole
// body is parsed again, so that a stream and the replay of its recording give the same reply.
ParsedReply read_body(const ChatFormat& format, const WireReply& reply);

// Makes the reply from the parsed body. Gives a verdict instead if the body is not a usable reply.
// Moves the texts out of `*read`.
AttemptResult<ChatReply> make_chat_reply(const ChatRequest& request, const WireReply& reply,
                                         ParsedReply* read, const ChatOptions& options);

// Returns the largest number of tokens that a request may cost.
ChatUsage worst_case_usage(const WireRequest& request, int max_tokens);

// Returns the cost of an exchange. A complete reply costs what the server reports. Otherwise the
// cost is the worst case, or nothing if the server cannot have worked on the request.
ChatUsage charged_usage(const WireReply& reply, const ParsedReply& read, bool may_have_cost,
                        const ChatUsage& worst);

}  // namespace groma::llm
