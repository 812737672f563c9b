// The channel of a search to its model.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "groma/llm.h"
#include "groma/tune.h"
#include "tune/progress.h"
#include "tune/record.h"

namespace groma::tuning {

// Asks the model within the budgets of tokens and money. While a record is replayed, the replies
// come from the record. A question that was interrupted is asked once more when the search is
// resumed. Only one thread may use the channel; the arguments must outlive it.
class Channel {
 public:
  // `model` may be null: then each new question fails with kUnsupported.
  Channel(llm::ChatClient* model, const TuneBudget& budget, Record& record, Progress& progress)
      : model_(model), budget_(budget), record_(record), progress_(progress) {}

  // Returns a reply or an error for each request, in their order. Sends several requests at once.
  std::vector<Result<llm::ChatReply, llm::ChatError>> ask(
      std::span<const llm::ChatRequest> requests);
  // Counts the cost of the questions before the search was resumed as spent.
  void add_spent_before();

  // ---- These functions are about the questions since begin_round().

  void begin_round();
  // Returns the error if a budget prevented a question.
  const std::optional<llm::ChatError>& ceiling() const { return ceiling_; }
  // Returns the error if a question failed and a retry cannot help.
  const std::optional<llm::ChatError>& hopeless() const { return hopeless_; }
  // Returns true if the round began in a replay and asked nothing new.
  bool round_is_replayed() const { return round_is_replayed_; }

  // ---- These functions are about the questions since forget_replies().

  void forget_replies();
  // Returns the error of the last question without a reply; nullopt if the model replied to any.
  std::optional<llm::ChatError> no_reply() const { return answered_ ? std::nullopt : no_reply_; }

  // Returns true if questions remain without a reply because the search was stopped.
  bool is_broken_off() const { return broken_off_; }

 private:
  using Reply = Result<llm::ChatReply, llm::ChatError>;

  std::vector<Reply> ask_together(std::span<const llm::ChatRequest> requests);
  std::vector<RecordedReply> ask_model(std::span<const llm::ChatRequest> requests);
  std::optional<llm::ChatError> budget_error(std::span<const llm::ChatRequest> requests) const;
  TuneSpending worst_case_cost(const llm::ChatRequest& request) const;
  void count_cost(const RecordedReply& exchange);

  llm::ChatClient* model_;
  const TuneBudget& budget_;
  Record& record_;
  Progress& progress_;
  std::optional<llm::ChatError> ceiling_, hopeless_, no_reply_;
  bool answered_ = false;  // true: the model replied since forget_replies()
  bool round_is_replayed_ = false;
  bool broken_off_ = false;
};

}  // namespace groma::tuning
