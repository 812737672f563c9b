// Implements DifferentialEvolution, GreedyMutation, and the state that all search techniques share.
// Source: opentuner/search/{differentialevolution,evolutionarytechniques}.py.
#include "propose/techniques.h"

#include <limits>
#include <numeric>

namespace groma::tuning {

// Makes a trial of a configuration, without a result.
TrialRef EnsembleState::make_trial(Configuration configuration) const {
  auto made = std::make_shared<Trial>();
  made->hash = hash_of(configuration);
  made->configuration = std::move(configuration);
  return made;
}

bool EnsembleState::look_up_result(Trial& trial) const {
  if (trial.known) return true;
  const TriedScore* found = memory.find(trial.hash);
  if (found == nullptr) return false;
  trial.known = true;
  trial.result = *found;
  return true;
}

// Returns infinity if the result of the trial is not known.
double EnsembleState::score(Trial& trial) const {
  return look_up_result(trial) ? trial.result.score : std::numeric_limits<double>::infinity();
}

// First returns the members of the initial population, one by one. Then returns a child of the
// member that has waited longest, among the members whose last child has a result.
Technique::Request DifferentialEvolution::next_trial(EnsembleState& shared) {
  while (members_.size() < kPopulation) {
    members_.push_back({shared.random_trial(), nullptr, false, turns_++});
  }
  std::size_t oldest = members_.size();
  for (std::size_t m = 0; m < members_.size(); ++m) {
    EvolutionMember& member = members_[m];
    if (!member.asked) {
      member.asked = true;
      return {RequestStatus::kTrial, member.trial};
    }
    if (member.child != nullptr) continue;
    if (oldest == members_.size() || member.turn < members_[oldest].turn) oldest = m;
  }
  if (oldest == members_.size()) return {};
  // A trial of a child with a known result would teach nothing, so a few other children are made
  // first.
  TrialRef child;
  for (int i = 0; i < kRetries; ++i) {
    child = shared.make_trial(make_child(oldest, shared));
    if (!shared.look_up_result(*child)) break;
  }
  members_[oldest].turn = turns_++;
  members_[oldest].child = child;
  return {RequestStatus::kTrial, child};
}

// Returns the parent with some parameters replaced by a + scale * (b - c), where a, b and c are
// other members or the best trial. `scale` is drawn from 0.5 to 1.
Configuration DifferentialEvolution::make_child(std::size_t parent, EnsembleState& shared) const {
  std::vector<const Configuration*> others;
  for (std::size_t m = 0; m < members_.size(); ++m) {
    if (m != parent) others.push_back(&members_[m].trial->configuration);
  }
  if (shared.best != nullptr) others.push_back(&shared.best->configuration);
  shared.draws.shuffle(others);
  const double scale = shared.draws.next_fraction() / 2 + 0.5;

  std::vector<std::size_t> parameters(shared.space.size());
  std::iota(parameters.begin(), parameters.end(), 0);
  shared.draws.shuffle(parameters);
  Configuration child = members_[parent].trial->configuration;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (i > 0 && !shared.draws.chance(kCrossoverRate)) continue;
    shared.space.set_linear_combination(child, parameters[i], *others[0], scale, *others[1],
                                        *others[2], shared.draws);
  }
  return child;
}

// Replaces the parent by its child if the child is better. The parent may then get another child.
void DifferentialEvolution::receive_result(const Trial& trial, EnsembleState& shared) {
  for (EvolutionMember& member : members_) {
    if (member.child == nullptr || member.child->hash != trial.hash) continue;
    if (shared.scores_better(*member.child, *member.trial)) member.trial = member.child;
    member.child = nullptr;
  }
}

// Changes the best configuration, or a random one if no trial succeeded. Returns kNothing if kTries
// mutations do not change anything.
Technique::Request GreedyMutation::next_trial(EnsembleState& shared) {
  const bool has_parent = shared.best != nullptr && shared.best->result.ok;
  Configuration configuration =
      has_parent ? shared.best->configuration : shared.space.random_configuration(shared.draws);
  const std::uint64_t parent = hash_of(configuration);
  std::vector<std::size_t> parameters(shared.space.size());
  std::iota(parameters.begin(), parameters.end(), 0);
  for (int i = 0; i < kTries; ++i) {
    shared.draws.shuffle(parameters);
    for (std::size_t p = 0; p < parameters.size(); ++p) {
      if (p == 0 || shared.draws.chance(rate_))
        mutate_parameter(configuration, parameters[p], shared);
    }
    if (hash_of(configuration) != parent) {
      return {RequestStatus::kTrial, shared.make_trial(std::move(configuration))};
    }
  }
  return {};
}

// Changes one parameter: a little if `normal_` is true, and otherwise to any value of its range.
void GreedyMutation::mutate_parameter(Configuration& configuration, std::size_t p,
                                      EnsembleState& shared) const {
  if (normal_) {
    shared.space.mutate_slightly(configuration, p, shared.draws);
  } else {
    shared.space.randomize_parameter(configuration, p, shared.draws);
  }
}

}  // namespace groma::tuning
