// What a search has tried, and what interfaces do that nobody made do anything else.
#include <algorithm>

#include "groma/tune.h"

namespace groma {
namespace {

// A failure in a sentence: steps with the same one are one kind of failure.
const std::string& sentence_of(const Step& step) {
  const Feedback& feedback = step.evaluation.feedback;
  return feedback.execution.empty() && !feedback.explain.empty() ? feedback.explain.front()
                                                                 : feedback.execution;
}

void keep_last(std::vector<Step>& steps) {
  if (steps.size() > History::kKept) steps.erase(steps.begin());
}

}  // namespace

std::optional<Evaluation> Evaluator::check(const std::string&, GuideDetail) const {
  return std::nullopt;
}

bool Evaluator::may_fail(const std::string&) const { return false; }

void Proposer::learn(const Step&) {}

void History::add(Step step) {
  if (step.evaluation.ok()) {
    const auto same = std::find_if(best_.begin(), best_.end(), [&](const Step& other) {
      return other.proposal.text == step.proposal.text;
    });
    if (same == best_.end()) {
      const auto place = std::upper_bound(
          best_.begin(), best_.end(), step,
          [](const Step& a, const Step& b) { return a.evaluation.score < b.evaluation.score; });
      best_.insert(place, step);
      if (best_.size() > kKept) best_.pop_back();
    }
  } else {
    std::erase_if(failures_,
                  [&](const Step& other) { return sentence_of(other) == sentence_of(step); });
    failures_.push_back(step);
    keep_last(failures_);
  }
  recent_.push_back(std::move(step));
  keep_last(recent_);
}

const Step* History::best() const { return best_.empty() ? nullptr : &best_.front(); }
const Step* History::last() const { return recent_.empty() ? nullptr : &recent_.back(); }

}  // namespace groma
