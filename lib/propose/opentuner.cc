// opentuner: OpenTuner's default ensemble (ensemble.h). For a mapping it searches the search space:
// each decision is an enum parameter whose values are its options, as in a program that uses
// OpenTuner itself. For any other text each line that the text marks with alternatives
// (marked_lines.h) is a parameter.
#include <fmt/format.h>

#include <functional>
#include <optional>

#include "groma/search_space.h"
#include "propose/ensemble.h"
#include "propose/marked_lines.h"
#include "propose/proposers.h"

namespace groma::tuning {
namespace {

// The tag of the step that tries the text with which the search begins. The search gives the start
// this tag; the numbers of the ensemble's requests begin at 1.
constexpr std::int64_t kStartTag = -1;

// The texts that the ensemble searches. A choice has the index of an option for each parameter.
struct ParameterizedText {
  // Enums and integers. The value of an integer is the index of its option plus the least value.
  std::vector<Parameter> parameters;
  std::function<std::string(const Choice&)> text_of;
  // The choice of the text with which the search begins, and a function that describes the changes
  // since then for people. Both are empty for a mapping, because its start may not be in the search
  // space.
  std::optional<Choice> start = {};
  std::function<std::string(const Choice&)> changes = {};

  Choice choice_of(const Configuration& configuration) const {
    Choice choice;
    for (std::size_t p = 0; p < parameters.size(); ++p) {
      choice.push_back(static_cast<std::uint32_t>(configuration[p] - parameters[p].least));
    }
    return choice;
  }
  Configuration configuration_of(const Choice& choice) const {
    Configuration configuration;
    for (std::size_t p = 0; p < parameters.size(); ++p) {
      configuration.push_back(choice[p] + parameters[p].least);
    }
    return configuration;
  }
};

// Returns the mappings of the search space, with one enum parameter for each decision.
ParameterizedText mappings_of(const SearchProblem& problem) {
  const auto space = std::make_shared<const SearchSpace>(*problem.machine, problem.inputs.front());
  std::vector<Parameter> parameters;
  for (const Decision& decision : space->decisions()) {
    parameters.push_back(
        Parameter::enumeration(static_cast<std::uint32_t>(decision.options.size())));
  }
  return {std::move(parameters), [space](const Choice& choice) { return space->text_of(choice); }};
}

// Returns the parameter for a marked line. If the values are rising integers, the parameter is the
// position of the value in the list, from 1, so that neighbouring values count as similar. For
// consecutive powers of two it is OpenTuner's PowerOfTwoParameter, which also searches over the
// exponent. All other values give an enum. A position from 0 could become the number -0, which the
// hash of a configuration distinguishes from 0.
Parameter parameter_of(const MarkedLine& mark) {
  const auto count = static_cast<std::uint32_t>(mark.values.size());
  return mark.has_rising_integers() ? Parameter::integer(1, count) : Parameter::enumeration(count);
}

// Returns the texts with other values in the marked lines.
ParameterizedText marked_texts_of(MarkedText read) {
  const auto text = std::make_shared<const MarkedText>(std::move(read));
  std::vector<Parameter> parameters;
  for (const MarkedLine& mark : text->marks) parameters.push_back(parameter_of(mark));
  return {std::move(parameters), [text](const Choice& choice) { return text->text_of(choice); },
          text->chosen,
          [text](const Choice& choice) { return text->changes(text->chosen, choice); }};
}

class OpenTuner : public Proposer {
 public:
  OpenTuner(ParameterizedText texts, std::uint64_t seed)
      : texts_(std::move(texts)), ensemble_(texts_.parameters, seed) {}

  std::string_view name() const override { return "opentuner"; }

  // Proposes the next generation, including configurations that were tried before: OpenTuner counts
  // these, too. The tag of a proposal is the number of its request. If the search has not tried the
  // start of a marked text, proposes that first.
  std::vector<Proposal> propose(SearchRound& round) override {
    if (texts_.start && round.history().last() == nullptr) {
      return {{texts_.text_of(*texts_.start), texts_.changes(*texts_.start), kStartTag}};
    }
    std::vector<Proposal> proposals;
    for (const Ensemble::Request& request : ensemble_.next_generation(round.max_proposals())) {
      const Choice choice = texts_.choice_of(request.configuration);
      proposals.push_back({texts_.text_of(choice),
                           fmt::format("{}{}{}", Ensemble::kTechniques[request.technique],
                                       request.repeated ? ", asked for before" : "",
                                       texts_.changes ? ": " + texts_.changes(choice) : ""),
                           request.number});
    }
    return proposals;
  }

  // The start of a marked text is for the ensemble what a seed configuration is for OpenTuner.
  void learn(const Step& step) override {
    if (texts_.start && step.proposal.tag == kStartTag) {
      ensemble_.add_result(texts_.configuration_of(*texts_.start), step.evaluation.score,
                           step.evaluation.ok());
      return;
    }
    ensemble_.report_result(step.proposal.tag, step.evaluation.score, step.evaluation.ok());
  }

 private:
  ParameterizedText texts_;
  Ensemble ensemble_;
};

}  // namespace

// Checks the marked lines before the search begins.
Result<std::unique_ptr<Proposer>> make_opentuner_proposer(const SearchProblem& problem,
                                                          std::uint64_t seed) {
  if (problem.is_mapping()) {
    return std::unique_ptr<Proposer>(std::make_unique<OpenTuner>(mappings_of(problem), seed));
  }
  auto text = read_marks_of(problem);
  if (!text) return text.error();
  return std::unique_ptr<Proposer>(
      std::make_unique<OpenTuner>(marked_texts_of(std::move(*text)), seed));
}

}  // namespace groma::tuning
