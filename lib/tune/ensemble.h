// Ensemble: OpenTuner's default search (AUCBanditMetaTechniqueA): a bandit chooses among four
// techniques for every request. Knows nothing of mappings: it asks for configurations of its
// parameters and is told their scores.
//
// As in the original, requests come in generations of four, nothing is learnt of one until all of
// it was tried, and a configuration that was tried before counts as a request, to which the earlier
// result is the answer. Why something failed is not learnt. Unlike the original it sends no time
// limits, and forgets what was tried more than ScoreMemory::kKept different ones ago.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "tune/bandit.h"
#include "tune/techniques.h"

namespace groma::tuning {

class Ensemble {
 public:
  static constexpr std::size_t kGeneration = 4;
  static constexpr std::string_view kTechniques[] = {"DifferentialEvolutionAlt",
                                                     "UniformGreedyMutation",
                                                     "NormalGreedyMutation", "RandomNelderMead"};

  Ensemble(std::vector<Parameter> parameters, std::uint64_t seed);
  Ensemble(const Ensemble&) = delete;
  Ensemble& operator=(const Ensemble&) = delete;

  struct Request {
    std::int64_t number = 0;  // from 1
    Configuration configuration;
    std::size_t technique = 0;  // that asks
    bool repeated = false;      // asked for before: what it is told is not listened to
  };
  // The next generation, of at most `most`. Empty: no technique has anything more to ask.
  std::vector<Request> ask(std::size_t most = kGeneration);
  // What came of a request of the last generation. An infinite score where it failed.
  void tell(std::int64_t number, double score, bool ok = true);

 private:
  struct Pending {
    std::int64_t number = 0;
    TrialRef trial;
    std::size_t technique = 0;
    bool repeated = false;
    bool told = false;
    bool late = false;  // repeats one of its own generation: answered after the next one
  };
  bool request(std::vector<Request>& requests);
  void finish_generation();

  ParameterSpace space_;
  Shared shared_;
  Bandit bandit_;
  std::vector<std::unique_ptr<Technique>> techniques_;
  std::vector<Pending> pending_;
  std::int64_t requests_ = 0;
};

}  // namespace groma::tuning
