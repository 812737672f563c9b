// ModelChannel: sends the questions of a proposer to the language model, or takes the replies from
// the record of a resumed search.
#include "tune/channel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>

#include "model/reply_text.h"
#include "tune/parallel.h"

namespace groma::tuning {
namespace {

// The limit on the number of questions that the model answers at the same time.
constexpr int kMaxAsked = 8;

// Cuts a reply that exceeds kMaxReplyBytes before a UTF-8 character, and appends a line that says
// how many bytes are missing. The record and the prompts stay small in this way.
void cut(std::string* text) {
  if (text->size() <= kMaxReplyBytes) return;
  std::size_t end = kMaxReplyBytes;
  while (end > 0 && (static_cast<unsigned char>((*text)[end]) & 0xC0U) == 0x80U) --end;
  *text = text->substr(0, end) + fmt::format("\n[{} further bytes]\n", text->size() - end);
}

// Returns the error for a question whose reply is missing because the search was interrupted.
llm::ChatError unanswered() {
  return {llm::ChatError::Code::kStopped, "it was stopped before the answer came"};
}

// Returns true if the question would fail again, because its error does not go away by waiting: a
// wrong key, an unreachable server, a used quota.
bool will_fail_again(llm::ChatError::Code code) {
  using Code = llm::ChatError::Code;
  for (Code hopeless : {Code::kUnreachable, Code::kCertificate, Code::kKey, Code::kNotFound,
                        Code::kQuota, Code::kUnsupported, Code::kReplay}) {
    if (code == hopeless) return true;
  }
  return false;
}

}  // namespace

// Notes whether the round is replayed from the record, because errors in a recorded round do not
// end the search.
void ModelChannel::begin_round() {
  ceiling_.reset();
  hopeless_.reset();
  round_is_replayed_ = record_.replaying();
}

// Called after a round with proposals, so that only consecutive rounds without a reply end the
// search.
void ModelChannel::begin_reply_series() {
  answered_ = false;
  no_reply_.reset();
}

// Does nothing if the search has no model, because no client then counts the cost.
void ModelChannel::add_earlier_spending() {
  if (model_ != nullptr) model_->add_spent(progress_.spent.tokens, progress_.spent.money);
}

// Asks in groups of at most kMaxAsked requests.
std::vector<Result<llm::ChatReply, llm::ChatError>> ModelChannel::ask(
    std::span<const llm::ChatRequest> requests) {
  std::vector<Reply> all;
  while (!requests.empty()) {
    const auto some = requests.first(std::min<std::size_t>(requests.size(), kMaxAsked));
    for (auto& reply : ask_one_group(some)) all.push_back(std::move(reply));
    requests = requests.subspan(some.size());
  }
  return all;
}

// Takes recorded replies first. Asks the model the remaining questions, also those that were
// interrupted, unless the search is stopped.
std::vector<ModelChannel::Reply> ModelChannel::ask_one_group(
    std::span<const llm::ChatRequest> requests) {
  std::vector<Reply> replies(requests.size(), unanswered());
  std::vector<llm::ChatRequest> open(requests.begin(), requests.end());
  // The index in `replies` of each request that still has no reply.
  std::vector<std::size_t> places(open.size());
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = i;
  while (!open.empty() && !record_.first_error() && !broken_off_) {
    const bool replayed = record_.replaying();
    if (!replayed && model_ == nullptr) {
      hopeless_ = llm::ChatError{llm::ChatError::Code::kUnsupported, "there is no model to ask"};
      round_is_replayed_ = false;
      return std::vector<Reply>(requests.size(), *hopeless_);
    }
    // The record calls `lost` for a request whose reply never arrived. The server may have charged
    // for such a request, so what was reserved for it is counted.
    const auto lost = [&](std::size_t i) {
      const TuneSpending cost = reserved_cost(open[i]);
      return RecordedReply{i, unanswered(), cost.tokens, cost.money, true};
    };
    std::vector<RecordedReply> more = replayed ? record_.replies(open, lost) : ask_model(open);
    if (record_.first_error()) break;
    // Interrupted requests are asked again in the next turn of the loop.
    std::vector<llm::ChatRequest> again;
    std::vector<std::size_t> again_places;
    for (std::size_t i = 0; i < more.size(); ++i) {
      count_cost(more[i]);
      Reply& reply = replies[places[i]] = std::move(more[i].reply);
      if (reply || reply.error().code != llm::ChatError::Code::kStopped) continue;
      again.push_back(std::move(open[i]));
      again_places.push_back(places[i]);
    }
    open = std::move(again);
    places = std::move(again_places);
    broken_off_ = !open.empty() && progress_.should_stop();
  }
  return replies;
}

// Asks the model concurrently, and records each reply with its cost as soon as the reply arrives.
std::vector<RecordedReply> ModelChannel::ask_model(std::span<const llm::ChatRequest> requests) {
  progress_.begin_work();
  progress_.worked = true;
  round_is_replayed_ = false;
  record_.write_questions(requests);
  if (record_.first_error()) return {};
  std::vector<RecordedReply> exchanges(requests.size());
  // Guards the record and the variables below.
  std::mutex mutex;
  std::optional<Error> failed;
  const llm::ChatSpending begin = model_->spent();
  // `said` is the sum of the costs that the replies so far state. `before` is the sum of the costs
  // that were charged to the replies so far. The client's own count may be larger than `said`,
  // because it includes failed attempts. Each reply is charged the larger of `said` and the
  // client's count, minus `before`.
  TuneSpending said, before;
  const auto settle = [&](std::size_t i, Reply reply) {
    const std::lock_guard lock(mutex);
    const llm::ChatSpending now = model_->spent();
    RecordedReply& exchange = exchanges[i];
    exchange.question = i;
    if (reply) said.tokens += reply->usage.input_tokens + reply->usage.output_tokens;
    if (reply) said.money += reply->money.value_or(0);
    exchange.reply = std::move(reply);
    const std::int64_t tokens =
        now.input_tokens + now.output_tokens - begin.input_tokens - begin.output_tokens;
    exchange.tokens = std::max(tokens, said.tokens) - before.tokens;
    exchange.money = std::max(now.money - begin.money, said.money) - before.money;
    exchange.estimated = now.estimated;
    before.tokens += exchange.tokens;
    before.money += exchange.money;
    if (!failed) failed = record_.write_reply(exchange);
    // If the record cannot be written, the search does not wait for the other replies.
    if (failed) progress_.stop_now();
  };
  // If a budget does not allow all questions, none is sent, and each gets the budget's error as its
  // reply.
  if (const auto ceiling = budget_error(requests)) {
    for (std::size_t i = 0; i < requests.size(); ++i) settle(i, *ceiling);
  } else {
    progress_.report_event(TuneEvent::Kind::kAsking, [](TuneEvent*) {});
    const llm::ChatClient::ReplyWatcher watch{[this] { return progress_.should_stop(); }, {}};
    in_parallel(requests.size(), kMaxAsked, [&](std::size_t i) {
      Reply reply = model_->ask(requests[i], watch);
      if (reply) cut(&reply->text);
      if (reply) cut(&reply->reasoning);
      settle(i, std::move(reply));
    });
  }
  record_.fail(std::move(failed));
  return exchanges;
}

// The client reserves the same tokens for each attempt.
TuneSpending ModelChannel::reserved_cost(const llm::ChatRequest& request) const {
  const llm::ChatUsage usage = llm::reserved_usage(request);
  TuneSpending cost;
  cost.tokens = usage.input_tokens + usage.output_tokens;
  if (model_ != nullptr && model_->options().price) {
    const llm::ChatPrice price = *model_->options().price;
    cost.money = (static_cast<double>(usage.input_tokens) * price.input +
                  static_cast<double>(usage.output_tokens) * price.output) /
                 1e6;
  }
  return cost;
}

// Returns an error if the requests together could exceed the budget of tokens or of money; nullopt
// if the budgets allow them.
std::optional<llm::ChatError> ModelChannel::budget_error(
    std::span<const llm::ChatRequest> requests) const {
  TuneSpending most;
  for (const llm::ChatRequest& request : requests) {
    const TuneSpending one = reserved_cost(request);
    most.tokens += one.tokens;
    most.money += one.money;
  }
  const TuneSpending& spent = progress_.spent;
  const std::string next = requests.size() == 1
                               ? std::string("the next question")
                               : fmt::format("the next {} questions at once", requests.size());
  if (budget_.tokens > 0 && spent.tokens + most.tokens > budget_.tokens) {
    return llm::ChatError{llm::ChatError::Code::kCeiling,
                          fmt::format("{} may take {} tokens, {} of {} are spent", next,
                                      most.tokens, spent.tokens, budget_.tokens)};
  }
  if (budget_.money > 0 && spent.money + most.money > budget_.money) {
    llm::ChatError error{llm::ChatError::Code::kCeiling,
                         fmt::format("{} may cost {:.6g}, {:.6g} of {:.6g} are spent", next,
                                     most.money, spent.money, budget_.money)};
    error.of_money = true;
    return error;
  }
  return std::nullopt;
}

// Adds the cost of a reply to the spending of the search, and keeps the errors that
// exceeded_budget_error(), permanent_error() and error_if_no_reply() return.
void ModelChannel::count_cost(const RecordedReply& exchange) {
  TuneSpending& spent = progress_.spent;
  spent.tokens += exchange.tokens;
  spent.money += exchange.money;
  spent.estimated = spent.estimated || exchange.estimated;
  const Reply& reply = exchange.reply;
  const bool ceiling = !reply && reply.error().code == llm::ChatError::Code::kCeiling;
  // A request stopped by the budget was not sent, unless an earlier attempt failed and cost tokens.
  if (!ceiling || exchange.tokens > 0) ++spent.model_calls;
  if (ceiling) ceiling_ = reply.error();
  if (!reply && will_fail_again(reply.error().code)) hopeless_ = reply.error();
  if (reply) answered_ = true;
  if (!reply) no_reply_ = reply.error();
}

}  // namespace groma::tuning
