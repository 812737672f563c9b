// The list of all proposers, and the function that makes a proposer by its name.
#include "propose/proposers.h"

#include <fmt/format.h>

#include <array>
#include <set>

#include "app/data.h"
#include "groma/segments.h"
#include "groma/spelling.h"

namespace groma::tuning {
namespace {

using Made = Result<std::unique_ptr<Proposer>>;

// An entry in the list of proposers: the description, and the function that makes the proposer.
struct ProposerEntry {
  ProposerInfo info;
  Made (*make)(const SearchProblem& problem, std::uint64_t seed, const AskOptions& options);
};

// Makes a proposer that needs no language model and no options.
template <auto make>
Made plain(const SearchProblem& problem, std::uint64_t seed, const AskOptions&) {
  return make(problem, seed);
}

// Makes a proposer that asks a model. Fails if the text is not a mapping and its marks are wrong.
template <auto make>
Made asking(const SearchProblem& problem, std::uint64_t seed, const AskOptions& options) {
  if (!problem.is_mapping()) {
    const Result<Segments> segments =
        Segments::of_text(Source(problem.file.empty() ? "text" : problem.file, problem.start));
    if (!segments.ok()) return segments.error();
  }
  return make(problem, seed, options);
}

constexpr std::array kListed = {
    ProposerEntry{
        {"guided", "changes what costs most according to the profile of a run", false, true},
        plain<make_guided_proposer>},
    ProposerEntry{{"anneal", "simulated annealing", false, true}, plain<make_anneal_proposer>},
    ProposerEntry{{"ccd", "AutoMap's constrained coordinate descent", false, true},
                  plain<make_ccd_proposer>},
    ProposerEntry{{"opentuner",
                   "OpenTuner's ensemble of techniques, also over the values of `groma: one of`"},
                  plain<make_opentuner_proposer>},
    ProposerEntry{{"random", "random mappings from the search space", false, true},
                  plain<make_random_proposer>},
    ProposerEntry{{"marks", "tries the values that `groma: one of` names in the text"},
                  plain<make_marks_proposer>},
    ProposerEntry{{"trace", "a model changes segments of the last text, given its feedback", true},
                  asking<make_trace_proposer>},
    ProposerEntry{
        {"opro", "a model sees the best texts so far with their results, and writes better ones",
         true},
        asking<make_opro_proposer>},
    ProposerEntry{
        {"scientist",
         "a model selects a text, designs experiments and carries them out, given timings only",
         true},
        asking<make_scientist_proposer>},
    ProposerEntry{
        {"evolve",
         "evolutionary search with several populations, in which a model changes the texts", true},
        asking<make_evolve_proposer>},
    ProposerEntry{{"hybrid", "a model and `guided` take turns", true},
                  asking<make_hybrid_proposer>},
};

// Returns the names of the tasks of an input. Two inputs with the same tasks count as two sizes of
// the same application.
std::set<std::string_view> tasks_of(const Workload& input) {
  std::set<std::string_view> names;
  for (const app::Task& task : input.data().tasks) names.insert(task.name);
  return names;
}

// The descriptions of all proposers, for callers that only show them.
constexpr auto kInfos = [] {
  std::array<ProposerInfo, kListed.size()> infos;
  for (std::size_t i = 0; i < kListed.size(); ++i) infos[i] = kListed[i].info;
  return infos;
}();

}  // namespace

std::span<const ProposerInfo> proposers() { return kInfos; }

// Makes the proposer with this name. Fails if the name is unknown, if the proposer only searches
// for mappings and the text is not a mapping, or if the inputs have different tasks.
Result<std::unique_ptr<Proposer>> make_proposer(std::string_view name, const SearchProblem& problem,
                                                std::uint64_t seed, const AskOptions& options) {
  std::vector<std::string_view> names;
  for (const ProposerEntry& listed : kListed) {
    names.push_back(listed.info.name);
    if (listed.info.name != name) continue;
    if (listed.info.mappings_only && !problem.is_mapping()) {
      return Error{
          Error::Code::kUnknown,
          fmt::format("the proposer `{}` searches for mappings, not for other texts", name),
          "name `marks`, `opentuner` or one that asks a model"};
    }
    for (const Workload& input : problem.inputs) {
      if (tasks_of(input) == tasks_of(problem.inputs.front())) continue;
      return Error{
          Error::Code::kUnknown,
          fmt::format("`{}` and `{}` have different tasks", problem.inputs.front().name(),
                      input.name()),
          "search for a mapping of each; inputs of one search are sizes of one application"};
    }
    return listed.make(problem, seed, options);
  }
  return Error{Error::Code::kUnknown, fmt::format("no proposer is named `{}`", name),
               fmt::format("there are {}", join_names(names))};
}

}  // namespace groma::tuning
