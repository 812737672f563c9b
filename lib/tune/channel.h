// ModelChannel: sends the questions of a proposer to the language model, counts their cost, and
// records the replies so that a resumed search does not pay for them again.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "groma/llm.h"
#include "groma/tune.h"
#include "tune/progress.h"
#include "tune/record.h"

namespace groma::tuning {

// Asks the model within the budgets of tokens and money. While a search is resumed and its record
// is replayed, the replies come from the record instead. A question that was interrupted before its
// reply came is asked once more. Only one thread may use the channel; the arguments must outlive
// it.
class ModelChannel {
 public:
  // `model` may be null: then each new question fails with kUnsupported.
  ModelChannel(llm::ChatClient* model, const TuneBudget& budget, SearchRecord& record,
               Progress& progress)
      : model_(model), budget_(budget), record_(record), progress_(progress) {}

  // Returns a reply or an error for each request, in the order of the requests. Sends several
  // requests at once.
  std::vector<Result<llm::ChatReply, llm::ChatError>> ask(
      std::span<const llm::ChatRequest> requests);
  // Tells the client what the search spent before it was resumed, so that the client's own limits
  // include that cost.
  void add_earlier_spending();

  // ---- Questions of the current round, which begins with begin_round()

  // Forgets the errors of the previous round.
  void begin_round();
  // Returns the error of a question that was not asked because a budget would have been exceeded;
  // nullopt if there is none.
  const std::optional<llm::ChatError>& exceeded_budget_error() const { return ceiling_; }
  // Returns the error of a question for which a retry cannot help, such as a wrong key; nullopt if
  // there is none.
  const std::optional<llm::ChatError>& permanent_error() const { return hopeless_; }
  // Returns true if the record was being replayed when the round began, and the round asked the
  // model nothing new.
  bool round_is_replayed() const { return round_is_replayed_; }

  // ---- Questions since the last call of begin_reply_series()

  // Begins a new series of questions for error_if_no_reply().
  void begin_reply_series();
  // Returns the error of the last question without a reply. Returns nullopt if the model replied to
  // at least one question of the series.
  std::optional<llm::ChatError> error_if_no_reply() const {
    return answered_ ? std::nullopt : no_reply_;
  }

  // Returns true if the search was stopped before every question had its reply.
  bool was_interrupted() const { return broken_off_; }

 private:
  using Reply = Result<llm::ChatReply, llm::ChatError>;

  std::vector<Reply> ask_one_group(std::span<const llm::ChatRequest> requests);
  std::vector<RecordedReply> ask_model(std::span<const llm::ChatRequest> requests);
  std::optional<llm::ChatError> budget_error(std::span<const llm::ChatRequest> requests) const;
  // Returns the cost of a request that the channel reserves before it asks.
  TuneSpending reserved_cost(const llm::ChatRequest& request) const;
  void count_cost(const RecordedReply& exchange);

  llm::ChatClient* model_;
  const TuneBudget& budget_;
  SearchRecord& record_;
  Progress& progress_;
  std::optional<llm::ChatError> ceiling_, hopeless_, no_reply_;
  // True if the model replied to a question since begin_reply_series().
  bool answered_ = false;
  bool round_is_replayed_ = false;
  bool broken_off_ = false;
};

}  // namespace groma::tuning
