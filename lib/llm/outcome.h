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

// Returns the cost of an exchange whose result is `result`. A complete reply costs what the server
// reports, or an estimate from the texts. An exchange that broke off costs reserved_usage(), or
// nothing if the server cannot have worked on the request.
ChatUsage charged_usage(const ChatRequest& request, const WireReply& reply, const ParsedReply& read,
                        const AttemptResult<ChatReply>& result);

}  // namespace groma::llm
