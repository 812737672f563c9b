// Collects the requests of the search techniques in generations, and passes the results back to the
// techniques. Source: opentuner/search/{driver,metatechniques}.py.
#include "propose/ensemble.h"

#include <algorithm>
#include <iterator>

namespace groma::tuning {
namespace {

// The search ends after this number of consecutive generations without a request.
constexpr int kEmptyGenerations = 500;

}  // namespace

// The mutation rates are those of OpenTuner. The techniques have the order of kTechniques.
Ensemble::Ensemble(std::vector<Parameter> parameters, std::uint64_t seed)
    : space_(std::move(parameters)),
      shared_{space_, RandomNumbers(seed), ScoreMemory(), nullptr},
      bandit_(std::size(kTechniques)) {
  techniques_.push_back(std::make_unique<DifferentialEvolution>());
  techniques_.push_back(std::make_unique<GreedyMutation>(0.1, false));
  techniques_.push_back(std::make_unique<GreedyMutation>(0.3, true));
  techniques_.push_back(std::make_unique<NelderMead>());
}

// Passes the results of the last generation to the techniques. Then collects requests until the new
// generation is full or no technique has another request. Some empty generations do not end the
// search, because a technique may pause for one generation and have a request in the next.
std::vector<Ensemble::Request> Ensemble::next_generation(std::size_t most) {
  std::vector<Request> requests;
  if (space_.size() == 0) return requests;
  for (int empty = 0; requests.empty() && empty <= kEmptyGenerations; ++empty) {
    finish_generation();
    while (requests.size() < std::min(most, kGenerationSize) && add_request(requests)) {
    }
  }
  return requests;
}

// Adds one request of the technique with the best score that has a request. Returns false if no
// technique has one.
bool Ensemble::add_request(std::vector<Request>& requests) {
  for (const std::size_t technique : bandit_.techniques_by_score(shared_.draws)) {
    const Technique::Request asked = techniques_[technique]->next_trial(shared_);
    if (asked.answer == Technique::RequestStatus::kWaiting) continue;
    if (asked.answer == Technique::RequestStatus::kNothing) {
      bandit_.record_use(technique, false);
      continue;
    }
    // A configuration with a known result needs no run. If another pending request has the same
    // configuration, both requests get the result of that one run.
    PendingRequest pending{++requests_, asked.trial, technique};
    if (shared_.look_up_result(*pending.trial)) {
      pending.repeated = pending.has_result = true;
    } else if (std::any_of(pending_.begin(), pending_.end(), [&](const PendingRequest& other) {
                 return other.trial->hash == pending.trial->hash;
               })) {
      pending.repeated = pending.waits_for_same_request = true;
    }
    requests.push_back({pending.number, pending.trial->configuration, technique, pending.repeated});
    pending_.push_back(std::move(pending));
    return true;
  }
  return false;
}

// Ignores requests that repeat an earlier configuration, because they get the earlier result.
void Ensemble::report_result(std::int64_t number, double score, bool ok) {
  for (PendingRequest& pending : pending_) {
    if (pending.number != number || pending.repeated) continue;
    pending.has_result = true;
    pending.trial->result = {score, ok, false};
  }
}

void Ensemble::add_result(Configuration configuration, double score, bool ok) {
  const TrialRef trial = shared_.make_trial(std::move(configuration));
  trial->result = {score, ok, false};
  store_result(trial);
}

// Makes the trial's result known to all techniques, and notes whether it is the best so far.
void Ensemble::store_result(const TrialRef& trial) {
  trial->result.was_best =
      shared_.best == nullptr || trial->result.score < shared_.best->result.score;
  trial->known = true;
  if (trial->result.was_best) shared_.best = trial;
  shared_.memory.add(trial->hash, trial->result);
}

// Stores the results in the order of the requests. Then tells each result to its technique and to
// the bandit, in the same order. A request without a result stays pending.
void Ensemble::finish_generation() {
  for (PendingRequest& pending : pending_) {
    if (pending.has_result && !pending.repeated) store_result(pending.trial);
  }
  std::vector<PendingRequest> now;
  now.swap(pending_);
  for (PendingRequest& pending : now) {
    if (pending.has_result) {
      techniques_[pending.technique]->receive_result(*pending.trial, shared_);
      bandit_.record_use(pending.technique, pending.trial->result.was_best);
      continue;
    }
    if (pending.waits_for_same_request) pending.has_result = shared_.look_up_result(*pending.trial);
    pending_.push_back(std::move(pending));
  }
}

}  // namespace groma::tuning
