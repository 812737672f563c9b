// The techniques of OpenTuner's default ensemble: each asks for configurations and is told what
// came of them. Ensemble (ensemble.h) goes round between them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/random.h"
#include "tune/parameters.h"
#include "tune/score_memory.h"

namespace groma::tuning {

// A configuration, and what came of it once that is known.
struct Trial {
  Configuration configuration;
  std::uint64_t hash = 0;
  bool known = false;
  Scored result;
};
using TrialRef = std::shared_ptr<Trial>;

// The state that all techniques of an ensemble share.
struct Shared {
  const ParameterSpace& space;
  Draws draws;
  ScoreMemory memory;
  // The best trial so far; null: no trial has ended yet. It is a failed one if all trials failed.
  TrialRef best;

  TrialRef trial(Configuration configuration) const;
  TrialRef random_trial() { return trial(space.random(draws)); }
  // Returns true if the result of the trial's configuration is known, whichever technique asked for
  // it. The result is then filled in.
  bool knows(Trial& trial) const;
  // Strictly; of two that are known. What is not known counts as a failure.
  bool better(Trial& a, Trial& b) const { return score(a) < score(b); }
  double score(Trial& trial) const;
};

class Technique {
 public:
  enum class Answer : std::uint8_t { kTrial, kNothing, kWaiting };
  struct Request {
    Answer answer = Answer::kNothing;
    TrialRef trial = nullptr;
  };

  virtual ~Technique() = default;
  virtual Request ask(Shared& shared) = 0;
  // What came of a trial that it had asked for.
  virtual void told(const Trial& /*trial*/, Shared& /*shared*/) {}
};

// DifferentialEvolutionAlt: the member of a population that has waited longest gets a child of
// three others, with a fifth of the parameters crossed, which takes its place if it is better.
class DifferentialEvolution : public Technique {
 public:
  static constexpr std::size_t kPopulation = 30;
  static constexpr double kCrossing = 0.2;
  static constexpr int kRetries = 5;  // for a child that is not known yet

  Request ask(Shared& shared) override;
  void told(const Trial& trial, Shared& shared) override;

 private:
  struct Member {
    TrialRef trial, child;  // child: asked for, not told yet
    bool asked = false;
    std::uint64_t turn = 0;
  };
  Configuration child_of(std::size_t parent, Shared& shared) const;

  std::vector<Member> members_;
  std::uint64_t turns_ = 0;
};

// UniformGreedyMutation, NormalGreedyMutation: the best known with one parameter changed, and each
// other one with a probability.
class GreedyMutation : public Technique {
 public:
  static constexpr int kTries = 10;  // each on top of the last, for another than the parent
  // `normal`: changed a little, where a parameter's kind knows what that is; else drawn anew.
  GreedyMutation(double rate, bool normal) : rate_(rate), normal_(normal) {}

  Request ask(Shared& shared) override;

 private:
  void mutate(Configuration& configuration, std::size_t p, Shared& shared) const;

  double rate_;
  bool normal_;
};

// RandomNelderMead: the downhill simplex over the parameters that are numbers, from random points.
// It gives up for good when the simplex stands still, and at once where nothing is a number.
class NelderMead : public Technique {
 public:
  Request ask(Shared& shared) override;

 private:
  enum class Step : std::uint8_t { kBegin, kSimplex, kReflected, kExpanded, kContracted };
  // Looks at what came of the last step and puts into `wanted_` what the next one needs; false: it
  // ends.
  bool advance(Shared& shared);
  bool reflect(Shared& shared);
  bool want(TrialRef trial, Step step);
  TrialRef point(const Configuration& from, const Configuration& other, double scale,
                 Shared& shared) const;
  Configuration centroid(const Shared& shared) const;

  Step step_ = Step::kBegin;
  bool done_ = false, paused_ = false;
  std::size_t rounds_ = 0;  // since something new was asked for
  std::vector<TrialRef> simplex_, last_simplex_;
  std::vector<TrialRef> wanted_;
  std::size_t handed_ = 0;  // of those wanted, looked at
  Configuration centroid_;
  TrialRef reflection_, expansion_, contraction_, base_;
};

}  // namespace groma::tuning
