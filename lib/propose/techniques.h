// The search techniques of OpenTuner's default ensemble. Each technique requests trials of
// configurations and receives their results. Ensemble (ensemble.h) decides which technique makes
// the next request.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/random.h"
#include "propose/parameters.h"
#include "propose/score_memory.h"

namespace groma::tuning {

// A configuration that is tried, and its result once the result is known.
struct Trial {
  Configuration configuration;
  std::uint64_t hash = 0;
  bool known = false;
  TriedScore result;
};
using TrialRef = std::shared_ptr<Trial>;

// The state that all search techniques of an ensemble share.
struct EnsembleState {
  const ParameterSpace& space;
  RandomNumbers draws;
  ScoreMemory memory;
  // The best trial so far; null if no trial has ended. If all trials failed, it is one of them.
  TrialRef best;

  TrialRef make_trial(Configuration configuration) const;
  TrialRef random_trial() { return make_trial(space.random_configuration(draws)); }
  // Returns true if the result of the trial's configuration is known, whichever technique asked for
  // it. Copies the result into the trial.
  bool look_up_result(Trial& trial) const;
  // Returns true if a's score is strictly smaller than b's. An unknown result counts as a failure.
  bool scores_better(Trial& a, Trial& b) const { return score(a) < score(b); }
  double score(Trial& trial) const;
};

// A search method that asks for trials and receives their results.
class Technique {
 public:
  enum class RequestStatus : std::uint8_t { kTrial, kNothing, kWaiting };
  struct Request {
    RequestStatus answer = RequestStatus::kNothing;
    TrialRef trial = nullptr;
  };

  virtual ~Technique() = default;
  // Returns the next trial to run. The answer kNothing means that the technique has no trial now.
  // The answer kWaiting means that the technique first needs the results of its earlier trials.
  virtual Request next_trial(EnsembleState& shared) = 0;
  // Receives the result of a trial that this technique asked for.
  virtual void receive_result(const Trial& /*trial*/, EnsembleState& /*shared*/) {}
};

// DifferentialEvolutionAlt: the member of the population that has waited longest gets a child,
// which combines three other members. At least one parameter of the parent is replaced, and each
// other parameter with probability kCrossoverRate. The child replaces its parent if it is better.
class DifferentialEvolution : public Technique {
 public:
  static constexpr std::size_t kPopulation = 30;
  static constexpr double kCrossoverRate = 0.2;
  // The limit on attempts to make a child whose result is not known yet.
  static constexpr int kRetries = 5;

  Request next_trial(EnsembleState& shared) override;
  void receive_result(const Trial& trial, EnsembleState& shared) override;

 private:
  struct EvolutionMember {
    // The member's configuration, and its child that was requested and has no result yet. `child`
    // is null if there is no such child.
    TrialRef trial, child;
    bool asked = false;
    std::uint64_t turn = 0;
  };
  Configuration make_child(std::size_t parent, EnsembleState& shared) const;

  std::vector<EvolutionMember> members_;
  std::uint64_t turns_ = 0;
};

// UniformGreedyMutation and NormalGreedyMutation: techniques that mutate the best known
// configuration. One parameter always changes, and each other parameter with probability `rate`.
class GreedyMutation : public Technique {
 public:
  // The limit on attempts to mutate the parent into a different configuration.
  static constexpr int kTries = 10;
  // If `normal` is true, a parameter changes only a little, if its kind allows that. Otherwise each
  // changed parameter gets a random value.
  GreedyMutation(double rate, bool normal) : rate_(rate), normal_(normal) {}

  Request next_trial(EnsembleState& shared) override;

 private:
  void mutate_parameter(Configuration& configuration, std::size_t p, EnsembleState& shared) const;

  double rate_;
  bool normal_;
};

// RandomNelderMead: the downhill simplex method over the numeric parameters, from random starting
// points. The method ends for good when the simplex no longer moves. Without numeric parameters it
// ends at once.
class NelderMead : public Technique {
 public:
  Request next_trial(EnsembleState& shared) override;

 private:
  enum class SimplexStep : std::uint8_t { kBegin, kSimplex, kReflected, kExpanded, kContracted };
  // Evaluates the results of the last step of the simplex method, and stores the trials of the next
  // step in `wanted_`. Returns false if the method has ended.
  bool choose_next_trials(EnsembleState& shared);
  bool reflect_worst_point(EnsembleState& shared);
  bool request_trial(TrialRef trial, SimplexStep step);
  TrialRef extrapolated_point(const Configuration& from, const Configuration& other, double scale,
                              EnsembleState& shared) const;
  Configuration centroid(const EnsembleState& shared) const;

  SimplexStep step_ = SimplexStep::kBegin;
  bool done_ = false, paused_ = false;
  // The number of rounds since the last trial that had to be run. A round is one call of
  // choose_next_trials().
  std::size_t rounds_ = 0;
  std::vector<TrialRef> simplex_, last_simplex_;
  std::vector<TrialRef> wanted_;
  // The number of entries of `wanted_` that next_trial() has returned or skipped.
  std::size_t returned_count_ = 0;
  Configuration centroid_;
  TrialRef reflection_, expansion_, contraction_, base_;
};

}  // namespace groma::tuning
