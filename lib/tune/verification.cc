// Chooses the mappings that are worth a run of the real program, compares their runs, and finds the
// fastest mapping.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/median.h"
#include "groma/verify.h"

namespace groma::tuning {

// Keeps at most kMost successful steps with different texts, the best first. Steps that failed are
// ignored.
void BestSteps::add(const Step& step) {
  if (!step.evaluation.ok()) return;
  const auto same = [&](const Step& each) { return each.proposal.text == step.proposal.text; };
  if (std::any_of(steps_.begin(), steps_.end(), same)) return;
  const auto before = std::find_if(steps_.begin(), steps_.end(), [&](const Step& each) {
    return step.evaluation.score < each.evaluation.score;
  });
  steps_.insert(before, step);
  if (steps_.size() > kMost) steps_.pop_back();
}

namespace {

// Returns the mapping with which the search began.
VerifyCandidate start_of(const Step& step) {
  return {.name = "start", .text = step.proposal.text, .is_start = true};
}

// Returns the mapping of a step.
VerifyCandidate found_at(const Step& step) {
  return {.name = fmt::format("step {}", step.number), .text = step.proposal.text};
}

}  // namespace

// Returns the start, the best simulated steps, and the search's best step if it is not among them.
// Several are verified because the simulator's order may differ from the real one.
std::vector<VerifyCandidate> candidates_of(const TuneOutcome& outcome, const BestSteps& best,
                                           const Evaluator& evaluator) {
  GROMA_REQUIRE(outcome.best.has_value(), "candidates_of() takes an outcome that has a best");
  std::vector<VerifyCandidate> candidates;
  const auto add = [&](VerifyCandidate candidate, const Step& step) {
    candidate.simulated = evaluator.value_of(step.evaluation.score);
    candidates.push_back(std::move(candidate));
  };
  if (outcome.start) add(start_of(*outcome.start), *outcome.start);
  for (const Step& step : best.all()) {
    if (outcome.start && step.proposal.text == outcome.start->proposal.text) continue;
    add(found_at(step), step);
  }
  // In a resumed search, the best step may be one from before the resume, which `best` does not
  // hold.
  const auto is_best = [&](const Step& step) { return step.number == outcome.best->number; };
  if (!(outcome.start && is_best(*outcome.start)) &&
      std::none_of(best.all().begin(), best.all().end(), is_best)) {
    add(found_at(*outcome.best), *outcome.best);
  }
  return candidates;
}

// For a search whose runs were measured, the start and the best suffice.
std::vector<VerifyCandidate> candidates_of(const TuneOutcome& outcome) {
  GROMA_REQUIRE(outcome.best.has_value(), "candidates_of() takes an outcome that has a best");
  std::vector<VerifyCandidate> candidates;
  if (outcome.start && outcome.start->evaluation.ok()) {
    candidates.push_back(start_of(*outcome.start));
  }
  if (!outcome.start || outcome.start->number != outcome.best->number) {
    candidates.push_back(found_at(*outcome.best));
  }
  return candidates;
}

double VerifiedMapping::median() const {
  GROMA_REQUIRE(!runs.empty(), "median() is of a mapping that ran");
  return groma::median(runs);
}

// Returns the mapping with the best median of its runs; null if no mapping ran. The best median is
// the highest one if the metric says that higher values are better, otherwise the lowest one.
const VerifiedMapping* Verification::fastest() const {
  const VerifiedMapping* best = nullptr;
  for (const VerifiedMapping& each : all) {
    if (each.runs.empty()) continue;
    const bool better = best == nullptr || (higher_is_better ? each.median() > best->median()
                                                             : each.median() < best->median());
    if (better) best = &each;
  }
  return best;
}

// Returns the verified start; null if the start was not verified or failed.
const VerifiedMapping* Verification::start() const {
  const auto found = std::find_if(all.begin(), all.end(), [](const VerifiedMapping& each) {
    return each.candidate.is_start && !each.runs.empty();
  });
  return found == all.end() ? nullptr : &*found;
}

// Compares the runs of two mappings. They differ if the intervals of their runs do not overlap.
// Returns nullopt if one of them did not run.
std::optional<VerifyComparison> Verification::compare(const VerifiedMapping& one,
                                                      const VerifiedMapping& other) const {
  if (one.runs.empty() || other.runs.empty()) return std::nullopt;
  VerifyComparison compared;
  const double quotient = other.median() / one.median();
  compared.speedup = higher_is_better ? 1 / quotient : quotient;
  compared.one_run = one.runs.size() == 1 || other.runs.size() == 1;
  const auto interval = interval_of(one.runs), others = interval_of(other.runs);
  compared.noise = std::max(half_width(interval, one.runs), half_width(others, other.runs));
  compared.differs = interval.second < others.first || others.second < interval.first;
  return compared;
}

}  // namespace groma::tuning
