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

// Estimates the tokens of a request and its reply, with one token for three bytes. Used if the
// server reports no counts.
ChatUsage estimate(const ChatRequest& request, const ParsedReply& reply) {
  std::size_t in = request.constraint.json_schema.size();
  for (const ChatMessage& message : request.messages) in += message.text.size() + 4;
  ChatUsage usage;
  usage.input_tokens = static_cast<std::int64_t>((in + 2) / 3);
  usage.output_tokens =
      static_cast<std::int64_t>((reply.text.size() + reply.reasoning.size() + 2) / 3);
  usage.estimated = true;
  return usage;
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
  reply.usage = read->usage().value_or(estimate(request, *read));
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
  return accept(request, reply, read, ChatKeyText::text_of(options.key));
}

// No tokeniser makes more tokens than a text has bytes. Only the chat template of the model may add
// a few tokens.
ChatUsage worst_case_usage(const WireRequest& request, int max_tokens) {
  ChatUsage usage;
  usage.input_tokens = static_cast<std::int64_t>(request.body.size());
  usage.output_tokens = max_tokens;
  usage.estimated = true;
  return usage;
}

// Uses the counts of the server only if the reply is complete. A reply that was cut off costs the
// worst case, or what the server reported if that is more.
ChatUsage charged_usage(const WireReply& reply, const ParsedReply& read, bool may_have_cost,
                        const ChatUsage& worst) {
  if (!may_have_cost) return {};
  const std::optional<ChatUsage> said = read.usage();
  if (!said) return worst;
  if (reply.succeeded() && !read.error && (!reply.is_stream() || !read.finish.empty()))
    return *said;
  ChatUsage cost = worst;
  cost.input_tokens = std::max(cost.input_tokens, said->input_tokens);
  cost.output_tokens = std::max(cost.output_tokens, said->output_tokens);
  return cost;
}

}  // namespace groma::llm
