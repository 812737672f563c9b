#include "tune/proposers.h"

#include <fmt/format.h>

#include <array>

#include "groma/segments.h"
#include "groma/spelling.h"

namespace groma {
namespace {

struct Listed {
  ProposerInfo info;
  std::unique_ptr<Proposer> (*make)(const Problem& problem, std::uint64_t seed);
  std::unique_ptr<Proposer> (*make_asking)(const Problem& problem, std::uint64_t seed,
                                           const AskOptions& options) = nullptr;
};

constexpr Listed asking(std::string_view name, std::string_view what,
                        decltype(Listed::make_asking) make) {
  return {{name, what, true, false}, nullptr, make};
}

constexpr std::array kListed = {
    Listed{{"guided", "changes what a run's profile says costs most", false, true},
           tuning::make_guided},
    Listed{{"anneal", "simulated annealing", false, true}, tuning::make_anneal},
    Listed{{"ccd", "AutoMap's constrained coordinate descent", false, true}, tuning::make_ccd},
    Listed{{"opentuner", "OpenTuner's ensemble of techniques", false, true},
           tuning::make_opentuner},
    Listed{{"random", "draws from the search space", false, true}, tuning::make_random},
    asking("trace", "a model changes segments of what was tried last, by its feedback",
           tuning::make_trace),
    asking("opro", "a model sees the best so far with their results, and writes better ones",
           tuning::make_opro),
    asking("scientist", "a model selects, designs experiments and carries them out, by timings",
           tuning::make_scientist),
    asking("evolve", "a model changes programs of a population on islands", tuning::make_evolve),
};

constexpr auto kInfos = [] {
  std::array<ProposerInfo, kListed.size()> infos;
  for (std::size_t i = 0; i < kListed.size(); ++i) infos[i] = kListed[i].info;
  return infos;
}();

}  // namespace

std::span<const ProposerInfo> proposers() { return kInfos; }

Result<std::unique_ptr<Proposer>> make_proposer(std::string_view name, const Problem& problem,
                                                std::uint64_t seed, const AskOptions& options) {
  std::vector<std::string_view> names;
  for (const Listed& listed : kListed) {
    names.push_back(listed.info.name);
    if (listed.info.name != name) continue;
    if (listed.info.mappings_only && !problem.is_mapping()) {
      return Error{
          Error::Code::kUnknown,
          fmt::format("the proposer `{}` searches for mappings, not for other texts", name),
          "name one that asks a model"};
    }
    if (listed.make_asking == nullptr) return listed.make(problem, seed);
    if (!problem.is_mapping()) {
      const Result<Segments> marked = Segments::of_marked(Source("text", problem.start));
      if (!marked.ok()) return marked.error();
    }
    return listed.make_asking(problem, seed, options);
  }
  return Error{Error::Code::kUnknown, fmt::format("no proposer is named `{}`", name),
               fmt::format("there are {}", join_names(names))};
}

}  // namespace groma
