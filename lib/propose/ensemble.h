// Ensemble: OpenTuner's default search (AUCBanditMetaTechniqueA). A bandit chooses which of four
// techniques makes the next request. The ensemble knows nothing about mappings: its caller asks for
// configurations of parameters and reports their scores.
//
// Requests come in generations of four, as in OpenTuner. Results are used only after the whole
// generation was tried. A configuration that was tried before counts as a request and gets its
// earlier result. The reason of a failure is not used. Two things differ from OpenTuner: the
// ensemble sets no time limits, and it remembers only the last ScoreMemory::kKept configurations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "propose/bandit.h"
#include "propose/techniques.h"

namespace groma::tuning {

class Ensemble {
 public:
  static constexpr std::size_t kGenerationSize = 4;
  static constexpr std::string_view kTechniques[] = {"DifferentialEvolutionAlt",
                                                     "UniformGreedyMutation",
                                                     "NormalGreedyMutation", "RandomNelderMead"};

  Ensemble(std::vector<Parameter> parameters, std::uint64_t seed);
  Ensemble(const Ensemble&) = delete;
  Ensemble& operator=(const Ensemble&) = delete;

  // A request to try one configuration.
  struct Request {
    // The number of the request, counted from 1.
    std::int64_t number = 0;
    Configuration configuration;
    // The index in `kTechniques` of the technique that made the request.
    std::size_t technique = 0;
    // True if the configuration was requested before. report_result() then ignores a result of this
    // request.
    bool repeated = false;
  };
  // Returns the next generation of at most min(`most`, kGenerationSize) requests. Returns an empty
  // list if no technique has another request.
  std::vector<Request> next_generation(std::size_t most = kGenerationSize);
  // Reports the result of a request of the last generation. `score` is infinite if the request
  // failed.
  void report_result(std::int64_t number, double score, bool ok = true);
  // Adds the result of a configuration that no technique requested, like the result of a seed
  // configuration of OpenTuner: it may become the best, and a later request for it is a repeated
  // one. No technique is credited with it.
  void add_result(Configuration configuration, double score, bool ok = true);

 private:
  // A request of the current generation, and the state of its result.
  struct PendingRequest {
    std::int64_t number = 0;
    TrialRef trial;
    std::size_t technique = 0;
    bool repeated = false;
    bool has_result = false;
    // True if another pending request has the same configuration. The result of this request is
    // then known as soon as the other one has its result.
    bool waits_for_same_request = false;
  };
  bool add_request(std::vector<Request>& requests);
  void store_result(const TrialRef& trial);
  void finish_generation();

  ParameterSpace space_;
  EnsembleState shared_;
  Bandit bandit_;
  std::vector<std::unique_ptr<Technique>> techniques_;
  std::vector<PendingRequest> pending_;
  std::int64_t requests_ = 0;
};

}  // namespace groma::tuning
