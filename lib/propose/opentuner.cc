// opentuner: OpenTuner's default ensemble (ensemble.h) over the search space. Each decision is an
// enum parameter whose values are its options, as in a program that uses OpenTuner itself.
#include <fmt/format.h>

#include "groma/search_space.h"
#include "propose/ensemble.h"
#include "propose/proposers.h"

namespace groma::tuning {
namespace {

// Returns one enum parameter for each decision.
std::vector<Parameter> parameters_of(const SearchSpace& space) {
  std::vector<Parameter> parameters;
  for (const Decision& decision : space.decisions()) {
    parameters.push_back(
        Parameter::enumeration(static_cast<std::uint32_t>(decision.options.size())));
  }
  return parameters;
}

class OpenTuner : public Proposer {
 public:
  OpenTuner(const SearchProblem& problem, std::uint64_t seed)
      : space_(*problem.machine, problem.inputs.front()), ensemble_(parameters_of(space_), seed) {}

  std::string_view name() const override { return "opentuner"; }

  // Proposes the next generation, including configurations that were tried before: OpenTuner counts
  // these, too. The tag of a proposal is the number of its request.
  std::vector<Proposal> propose(SearchRound& round) override {
    std::vector<Proposal> proposals;
    for (const Ensemble::Request& request : ensemble_.next_generation(round.max_proposals())) {
      const Choice choice(request.configuration.begin(), request.configuration.end());
      proposals.push_back({space_.text_of(choice),
                           fmt::format("{}{}", Ensemble::kTechniques[request.technique],
                                       request.repeated ? ", asked for before" : ""),
                           request.number});
    }
    return proposals;
  }

  void learn(const Step& step) override {
    ensemble_.report_result(step.proposal.tag, step.evaluation.score, step.evaluation.ok());
  }

 private:
  SearchSpace space_;
  Ensemble ensemble_;
};

}  // namespace

std::unique_ptr<Proposer> make_opentuner_proposer(const SearchProblem& problem,
                                                  std::uint64_t seed) {
  return std::make_unique<OpenTuner>(problem, seed);
}

}  // namespace groma::tuning
