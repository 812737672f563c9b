// Writes the earlier steps of a search for a prompt. The only way in is add_step_history().
#include "model/step_history.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "llm/text.h"

namespace groma::tuning {
namespace {

// Limits on the steps that are shown: the last ones, the best ones, the last ones that were the
// best when they were tried, and the last ones that failed for different reasons.
constexpr std::size_t kLastShown = 16, kBestShown = 4, kRecordsShown = 4, kFailuresShown = 6;
// Limit on the bytes that describe the change of a step.
constexpr std::size_t kMaxChange = 1'600;
// Limit on the bytes of a reason.
constexpr std::size_t kMaxReason = 200;
// Two times that differ by at most this share are called equal.
constexpr double kSame = 1e-3;

// The steps that the history keeps, by their numbers.
using StepsByNumber = std::map<std::int64_t, const Step*>;

StepsByNumber kept_steps(const History& history) {
  StepsByNumber steps;
  for (const auto* list : {&history.recent(), &history.best_first(), &history.failures()}) {
    for (const Step& step : *list) steps.emplace(step.number, &step);
  }
  return steps;
}

// Returns the numbers of the steps that are shown.
std::set<std::int64_t> shown_numbers(const StepsByNumber& steps, const History& history) {
  std::set<std::int64_t> shown;
  std::size_t seen = 0, records = 0;
  for (auto each = steps.rbegin(); each != steps.rend(); ++each) {
    const bool is_last = ++seen <= kLastShown;
    if (is_last || (each->second->was_best && ++records <= kRecordsShown)) {
      shown.insert(each->first);
    }
  }
  const std::vector<Step>& best = history.best_first();
  for (std::size_t i = 0; i < std::min(best.size(), kBestShown); ++i) shown.insert(best[i].number);
  const std::vector<Step>& failures = history.failures();
  for (std::size_t i = failures.size() - std::min(failures.size(), kFailuresShown);
       i < failures.size(); ++i) {
    shown.insert(failures[i].number);
  }
  return shown;
}

// Compares the score of a valid step with the best one before it.
std::string verdict(const Step& step, const Evaluator& evaluator) {
  if (!step.best_before) return "the first that ran";
  const Evaluation& now = step.evaluation;
  Evaluation before;
  before.score = step.best_before->score;
  before.noise = step.best_before->noise;
  const std::string than = fmt::format("#{}, the best before it ({})", step.best_before->number,
                                       format_score(before, evaluator));
  if (step.was_best) return "BETTER than " + than;
  const bool is_same =
      std::abs(now.score - before.score) <= std::max(kSame, now.noise) * std::abs(before.score);
  return (is_same ? "no better than " : "WORSE than ") + than;
}

// Describes the change of a step against the best text before it. Returns an empty text for the
// first text.
std::string change_words(const Step& step, const StepsByNumber& kept,
                         const SearchProblem& problem) {
  if (!step.best_before) return "";
  const auto best = kept.find(step.best_before->number);
  if (best == kept.end()) {
    return fmt::format("  (the difference is unknown: the text of #{} is no longer kept)\n",
                       step.best_before->number);
  }
  const auto text = segments_of(problem, step.proposal.text);
  const auto before = segments_of(problem, best->second->proposal.text);
  if (!text.ok() || !before.ok()) return "  (not divided into segments)\n";
  std::string words = describe_segment_changes(*text, *before);
  if (words.empty()) {
    return fmt::format("  (the lines of #{}, perhaps in another order)\n",
                       step.best_before->number);
  }
  if (words.size() <= kMaxChange) return words;
  // The text is cut at the end of a line.
  const std::size_t end = words.rfind('\n', kMaxChange - 1) + 1;
  const auto lines =
      std::count(words.begin() + static_cast<std::ptrdiff_t>(end), words.end(), '\n');
  return words.substr(0, end) + fmt::format("    ({} more lines of the difference)\n", lines);
}

// Returns the first line about a step: its number, result, verdict, what it shall do, and what took
// the time or why it failed.
std::string head_line(const Step& step, const SearchRound& round, GuideDetail detail) {
  const Step* best = round.history().best();
  std::string line =
      fmt::format("#{} {}", step.number, describe_result(step.evaluation, round.evaluator()));
  if (step.evaluation.ok()) {
    line += ", " + verdict(step, round.evaluator());
    if (best != nullptr && best->number == step.number) line += " (the best so far)";
  }
  const std::string why =
      step.evaluation.ok() ? describe_main_cause(step.evaluation, detail)
                           : feedback_summary(step.evaluation.feedback,
                                              std::min(detail, GuideDetail::kExplain), kMaxReason);
  if (!why.empty()) line += (step.evaluation.ok() ? "; " : ": ") + why;
  const std::string change = one_line(strip_directories(step.proposal.why), kMaxReason);
  if (!change.empty()) line += "; change: " + change;
  return line + "\n";
}

}  // namespace

void add_step_history(Prompt& prompt, const SearchRound& round, GuideDetail detail) {
  const History& history = round.history();
  const StepsByNumber steps = kept_steps(history);
  if (steps.empty()) return;
  const std::set<std::int64_t> shown = shown_numbers(steps, history);
  // The first step has the number 1. The history itself keeps only some steps of a long search.
  const std::int64_t first = std::min<std::int64_t>(steps.begin()->first, 1);
  const std::int64_t all = steps.rbegin()->first - first + 1;
  const std::int64_t left_out = all - std::ssize(shown);
  prompt.add_heading(
      "HISTORY (the steps in their order; each difference is against the best text before it)\n",
      RemovalStage::kNever);
  if (left_out > 0) {
    prompt.add_user_text(
        fmt::format("({} of {} steps are left out for space. Shown are the last {}, the best {}, "
                    "the last {} that were the best when they were tried, and the last {} that "
                    "failed for different reasons.)\n",
                    left_out, all, kLastShown, kBestShown, kRecordsShown, kFailuresShown));
  }
  for (const auto& [number, step] : steps) {
    if (!shown.contains(number)) continue;
    const std::string line = head_line(*step, round, detail);
    prompt.add_user_text(line + change_words(*step, steps, round.problem()), RemovalStage::kHistory,
                         line);
  }
}

}  // namespace groma::tuning
