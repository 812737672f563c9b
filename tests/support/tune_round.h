// A round of the tuner for tests of proposers: in memory, with a scripted model.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "groma/tune.h"

namespace groma::testing {

// Any text for which a function gives values; negative ones are failures.
class FakeEvaluator : public tuning::Evaluator {
 public:
  using Values = std::function<double(const std::string& text)>;
  explicit FakeEvaluator(Values value) : value_(std::move(value)) {}

  std::vector<std::string> inputs() const override { return {"input"}; }
  std::string unit() const override { return "s"; }
  bool simulated() const override { return true; }
  tuning::Evaluation evaluate(const tuning::EvaluationRequest& request) override {
    const double value = value_(request.text);
    tuning::Evaluation evaluation;
    if (value < 0) {
      evaluation.status = tuning::Evaluation::Status::kFailed;
      evaluation.feedback.status = GuideFeedback::Status::kError;
      evaluation.feedback.execution = "it fails";
      return evaluation;
    }
    evaluation.status = tuning::Evaluation::Status::kOk;
    evaluation.values = {value};
    evaluation.score = value;
    return evaluation;
  }

 private:
  Values value_;
};

class FakeRound : public tuning::SearchRound {
 public:
  FakeRound(const tuning::SearchProblem& problem, tuning::Evaluator& evaluator)
      : problem_(problem), evaluator_(evaluator) {}

  // What the model answers; every request is kept.
  std::function<Result<std::string, llm::ChatError>(const llm::ChatRequest&)> model;
  std::vector<llm::ChatRequest> asked;
  std::vector<std::string> rejected;
  std::string end_reason;
  std::size_t left = 10;
  GuideDetail shown = GuideDetail::kProfile;
  bool estimates = false;
  tuning::History past;

  // One round of the proposer: what it proposes is evaluated and learnt of. How many.
  std::size_t play(tuning::Proposer& proposer) {
    const std::vector<tuning::Proposal> proposals = proposer.propose(*this);
    for (const tuning::Proposal& proposal : proposals) {
      const std::int64_t last = past.last() == nullptr ? 0 : past.last()->number;
      tuning::Step step{last + 1, proposal, evaluator_.evaluate({proposal.text, proposer.reads()})};
      past.add(step);
      proposer.learn(step);
      --left;
    }
    return proposals.size();
  }

  const tuning::SearchProblem& problem() const override { return problem_; }
  const tuning::History& history() const override { return past; }
  std::size_t max_proposals() const override { return left; }
  GuideDetail detail() const override { return shown; }
  const tuning::Evaluator& evaluator() const override { return evaluator_; }
  std::vector<Result<llm::ChatReply, llm::ChatError>> ask(
      std::span<const llm::ChatRequest> requests) override {
    std::vector<Result<llm::ChatReply, llm::ChatError>> replies;
    for (const llm::ChatRequest& request : requests) {
      asked.push_back(request);
      Result<std::string, llm::ChatError> text =
          model ? model(request) : llm::ChatError{llm::ChatError::Code::kUnsupported, "no model"};
      if (text) {
        llm::ChatReply reply;
        reply.text = *text;
        replies.emplace_back(std::move(reply));
      } else {
        replies.emplace_back(text.error());
      }
    }
    return replies;
  }
  void explain_end(const std::string& why) override { end_reason = why; }
  bool has_estimates() const override { return estimates; }
  std::int64_t estimates_left() const override { return estimates ? kUnlimitedProposals : 0; }
  std::vector<tuning::Evaluation> estimate(std::span<const std::string> texts,
                                           GuideDetail detail) override {
    std::vector<tuning::Evaluation> all;
    if (!estimates) return all;
    for (const std::string& text : texts) all.push_back(evaluator_.evaluate({text, detail}));
    return all;
  }
  void reject(std::string why) override { rejected.push_back(std::move(why)); }
  bool stop() const override { return false; }

 private:
  const tuning::SearchProblem& problem_;
  tuning::Evaluator& evaluator_;
};

// Returns the text of a journal without the times in it.
inline std::string without_times(std::string journal) {
  for (std::size_t at = 0; (at = journal.find(",\"seconds\":", at)) != journal.npos;) {
    journal.erase(at, journal.find_first_of(",}", at + 1) - at);
  }
  for (std::size_t at = 0; (at = journal.find("{\"ended\":", at)) != journal.npos;) {
    journal.erase(at, journal.find('\n', at) + 1 - at);
  }
  return journal;
}

}  // namespace groma::testing
