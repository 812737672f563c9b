// Turns an exchange into a reply or a verdict on its failure, and computes its cost for the budget.
#include "llm/outcome.h"

#include <fmt/format.h>

#include <algorithm>

#include "llm/sse.h"
#include "llm/text.h"

namespace groma::llm {
namespace {

using Code = ChatError::Code;

// Returns why the reply ended. Both formats have their own words for this.
ChatReply::Finish finish_of(std::string_view word) {
  if (word == "stop" || word == "end_turn" || word == "stop_sequence" || word == "eos") {
    return ChatReply::Finish::kStop;
  }
  if (word == "length" || word == "max_tokens" || word == "model_context_window_exceeded") {
    return ChatReply::Finish::kLength;
  }
  const bool tool = word == "tool_calls" || word == "tool_use" || word == "function_call";
  return tool ? ChatReply::Finish::kToolCall : ChatReply::Finish::kOther;
}

// Returns an estimate of the tokens in `bytes` bytes of text, at least 1.
std::int64_t tokens_of_bytes(std::size_t bytes) {
  return static_cast<std::int64_t>(std::max<std::size_t>((2 * bytes + 6) / 7, 1));
}

// Returns an estimate of the tokens that a request has.
std::int64_t request_tokens(const ChatRequest& request) {
  std::size_t bytes = request.constraint.json_schema.size();
  for (const ChatMessage& message : request.messages) bytes += message.text.size();
  return tokens_of_bytes(bytes);
}

// Returns the tokens of a request and its complete reply, of which the server did not report both
// counts. A count that it did report is used. A reply that was cut off at the limit of tokens has
// as many tokens as the limit, also where the server hides the reasoning.
ChatUsage estimated_usage(const ChatRequest& request, const ParsedReply& reply) {
  const ChatUsage& reported = reply.reported_usage;
  ChatUsage usage;
  usage.estimated = true;
  usage.input_tokens = reported.input_tokens;
  if (usage.input_tokens <= 0) usage.input_tokens = request_tokens(request);
  usage.output_tokens = reported.output_tokens;
  if (usage.output_tokens > 0) return usage;
  usage.output_tokens =
      tokens_of_bytes(reply.text.size() + reply.reasoning.size() + reply.refusal.size());
  if (finish_of(reply.finish) == ChatReply::Finish::kLength) {
    usage.output_tokens = std::max<std::int64_t>(usage.output_tokens, request.max_tokens);
  }
  return usage;
}

// Returns true if the whole reply arrived.
bool has_arrived(const WireReply& reply, const ParsedReply& read) {
  return reply.succeeded() && !read.error && (!reply.is_stream() || !read.finish.empty());
}

// Returns true if the whole text of the reply is known. A command that failed has written
// everything before it ended.
bool has_whole_text(const WireReply& reply, const ParsedReply& read) {
  return (has_arrived(reply, read) && read.parse_error.empty()) ||
         (reply.is_reply_text && reply.failure == TransportFailure::kChild);
}

// Returns true if the reply has no text. A reply that was cut at the limit of tokens may have spent
// all of them on reasoning that the server does not show, so it counts as a reply.
bool says_nothing(const ParsedReply& read) {
  if (!read.reasoning.empty()) return false;
  const bool blank = read.text.find_first_not_of(" \t\r\n") == std::string::npos;
  return !read.has_text || (blank && finish_of(read.finish) != ChatReply::Finish::kLength);
}

// Turns a complete reply into the result: removes the key, and separates reasoning from the text.
// Gives a verdict instead for a refusal, a reply without text, or a call of another tool.
AttemptResult<ChatReply> accept(const ChatRequest& request, const WireReply& wire,
                                ParsedReply* read, const std::string& key) {
  // The key may be spread over several pieces of a stream, so the joined texts are redacted again.
  for (std::string* text : {&read->refusal, &read->tool, &read->model}) {
    *text = redacted(*text, key);
  }
  FailureVerdict verdict;
  verdict.may_have_cost = true;
  verdict.error.status = wire.status;
  const bool filtered = read->finish == "content_filter" || read->finish == "refusal";
  if (!read->refusal.empty() || (filtered && read->text.empty())) {
    verdict.error.code = Code::kRefusal;
    verdict.error.message =
        read->refusal.empty() ? "a filter refuses"
                              : fmt::format("the model refuses: {}", printable_line(read->refusal));
    return {{}, verdict};
  }
  if (says_nothing(*read)) {
    verdict.error.code = Code::kNoText;
    verdict.error.message = read->tool.empty()
                                ? "the reply has no text"
                                : fmt::format("the model calls a tool `{}` instead of answering",
                                              printable_line(read->tool, 60));
    verdict.error.help = wire.is_reply_text
                             ? "the command has to write the reply's text to its standard output"
                             : "another model or prompt may get one";
    return {{}, verdict};
  }
  ChatReply reply;
  reply.usage = read->usage().value_or(estimated_usage(request, *read));
  reply.text = std::move(read->text);
  reply.reasoning = std::move(read->reasoning);
  move_reasoning_out(&reply.text, &reply.reasoning);
  reply.text = redacted(reply.text, key);
  reply.reasoning = redacted(reply.reasoning, key);
  reply.model = printable_line(read->model, 200);
  reply.finish = finish_of(read->finish);
  // A call of the tool kReplyTool is an ordinary end of the reply.
  const bool ours = reply.finish == ChatReply::Finish::kToolCall && read->tool == kReplyTool;
  if (ours) reply.finish = ChatReply::Finish::kStop;
  return {std::move(reply), {}};
}

}  // namespace

// The output of a child process is the text of the reply. The body of a failed exchange is not
// read.
ParsedReply read_body(const ChatFormat& format, const WireReply& reply) {
  ParsedReply read;
  if (reply.is_reply_text) {
    read.text = reply.body;
    read.has_text = true;
    read.finish = "stop";
  } else if (reply.status / 100 == 2 && reply.is_stream()) {
    SseParser parser;
    const auto add = [&](std::string_view data) { format.add_event(data, &read); };
    parser.feed(reply.body, add);
    parser.finish(add);
  } else if (reply.status / 100 == 2) {
    read = format.parse_body(reply.body);
  }
  return read;
}

namespace {

// Ends the output of a child process where the request's limit on tokens is reached, as a server
// would. The number of its tokens is an estimate.
void cut_at_token_limit(const ChatRequest& request, ParsedReply* read) {
  if (estimate_tokens(read->text) <= request.max_tokens) return;
  std::size_t bytes = read->text.size();
  while (tokens_of_bytes(bytes) > request.max_tokens) bytes -= (bytes + 15) / 16;
  read->text = valid_utf8(std::string_view(read->text).substr(0, bytes));
  read->finish = "length";
}

}  // namespace

// A stream without a finish reason counts as cut off, even if its connection ended normally.
AttemptResult<ChatReply> make_chat_reply(const ChatRequest& request, const WireReply& reply,
                                         ParsedReply* read, const ChatOptions& options) {
  if (!reply.succeeded()) {
    return {{}, judge_failed_exchange(reply, options.endpoint)};
  }
  if (read->error) return {{}, judge_server_error(*read->error, reply.status)};
  if (reply.is_stream() && read->finish.empty()) {
    WireReply cut = reply;
    cut.failure = TransportFailure::kCut;
    const bool nothing = read->text.empty() && read->reasoning.empty();
    cut.detail = nothing ? "a stream without text; perhaps the prompt is too long for it"
                         : "the stream ended before the reply did";
    return {{}, judge_failed_exchange(cut, options.endpoint)};
  }
  if (!read->parse_error.empty()) return {{}, judge_unusable_reply(reply, read->parse_error)};
  if (reply.is_reply_text) cut_at_token_limit(request, read);
  return accept(request, reply, read, ChatKeyText::text_of(options.key));
}

std::int64_t estimate_tokens(std::string_view text) { return tokens_of_bytes(text.size()); }

// One token for each byte would be certain never to be exceeded. But that is several times what a
// prompt has, and a search would end long before it has spent its tokens.
ChatUsage reserved_usage(const ChatRequest& request) {
  ChatUsage usage;
  usage.input_tokens = request_tokens(request);
  usage.output_tokens = request.max_tokens;
  usage.estimated = true;
  return usage;
}

// If the exchange broke off, nobody knows how much of the reply the server has written. The counts
// of the server then are only a lower bound.
ChatUsage charged_usage(const ChatRequest& request, const WireReply& reply, const ParsedReply& read,
                        const AttemptResult<ChatReply>& result) {
  if (result.value) return result.value->usage;
  if (!result.verdict.may_have_cost) return {};
  const std::optional<ChatUsage> reported = read.usage();
  if (reported && has_arrived(reply, read)) return *reported;
  if (has_whole_text(reply, read)) return estimated_usage(request, read);
  ChatUsage cost = reserved_usage(request);
  cost.input_tokens = std::max(cost.input_tokens, read.reported_usage.input_tokens);
  cost.output_tokens = std::max(cost.output_tokens, read.reported_usage.output_tokens);
  return cost;
}

}  // namespace groma::llm
