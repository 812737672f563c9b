// The history of a search, and the defaults of the functions that proposers and evaluators may
// leave out.
#include <algorithm>
#include <utility>

#include "groma/search.h"

namespace groma::tuning {
namespace {

// Returns the sentence by which a failure is recognised. Steps with the same sentence count as the
// same kind of failure.
const std::string& sentence_of(const Step& step) {
  const GuideFeedback& feedback = step.evaluation.feedback;
  return feedback.execution.empty() && !feedback.explain.empty() ? feedback.explain.front()
                                                                 : feedback.execution;
}

// Removes the oldest step if the list exceeds its limit. Steps are added one at a time.
void keep_last(std::vector<Step>& steps) {
  if (steps.size() > History::kKept) steps.erase(steps.begin());
}

}  // namespace

std::optional<Evaluation> Evaluator::check(const std::string&, GuideDetail) const {
  return std::nullopt;
}

bool Evaluator::may_fail(const std::string&) const { return false; }

void Proposer::learn(const Step&) {}

// Accepts any successful evaluation if no step has succeeded yet.
bool History::is_better(const Evaluation& evaluation) const {
  if (!evaluation.ok() || best_.empty()) return evaluation.ok();
  return evaluation.score < best_.front().evaluation.score * (1 - evaluation.noise);
}

// Adds a step to the best steps or to the failures, and to the recent steps. Among the best steps,
// each text stands only once. Each list has a limit.
void History::add(Step step) {
  step.best_before.reset();
  if (const Step* before = best()) {
    step.best_before = {before->number, before->evaluation.score, before->evaluation.noise};
  }
  step.was_best = is_better(step.evaluation);
  if (step.evaluation.ok()) {
    const auto same = std::find_if(best_.begin(), best_.end(), [&](const Step& other) {
      return other.proposal.text == step.proposal.text;
    });
    const bool is_best = step.was_best;
    if (is_best && same != best_.end()) best_.erase(same);
    if (is_best || same == best_.end()) {
      const auto faster = [](const Step& a, const Step& b) {
        return a.evaluation.score < b.evaluation.score;
      };
      // The new best step goes to the front of the list. The former best step moves to its position
      // by score.
      const auto others = best_.begin() + (best_.empty() ? 0 : 1);
      if (is_best && !best_.empty()) {
        std::rotate(best_.begin(), others,
                    std::lower_bound(others, best_.end(), best_.front(), faster));
      }
      best_.insert(is_best ? best_.begin() : std::upper_bound(others, best_.end(), step, faster),
                   step);
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

void History::add_start(Step step) {
  start_number_ = step.number;
  add(std::move(step));
}

std::vector<std::int64_t> History::parents_of(const Step* step) const {
  const std::int64_t number = step == nullptr ? start_number_ : step->number;
  return number > 0 ? std::vector{number} : std::vector<std::int64_t>();
}

const Step* History::best() const { return best_.empty() ? nullptr : &best_.front(); }
const Step* History::last() const { return recent_.empty() ? nullptr : &recent_.back(); }

}  // namespace groma::tuning
