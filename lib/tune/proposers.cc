#include "tune/proposers.h"

#include <fmt/format.h>

#include <array>

#include "groma/spelling.h"

namespace groma {
namespace {

struct Listed {
  ProposerInfo info;
  std::unique_ptr<Proposer> (*make)(const Problem& problem, std::uint64_t seed);
  // Instead, of one that cannot search for every text.
  Result<std::unique_ptr<Proposer>> (*make_some)(const Problem& problem,
                                                 std::uint64_t seed) = nullptr;
};

constexpr std::array kListed = {
    Listed{{"guided", "changes what a run's profile says costs most", false, true},
           tuning::make_guided},
    Listed{{"marks", "tries the values that `groma: one of` names in the text"},
           nullptr,
           tuning::make_marks},
    Listed{{"random", "draws from the search space", false, true}, tuning::make_random},
};

constexpr auto kInfos = [] {
  std::array<ProposerInfo, kListed.size()> infos;
  for (std::size_t i = 0; i < kListed.size(); ++i) infos[i] = kListed[i].info;
  return infos;
}();

}  // namespace

std::span<const ProposerInfo> proposers() { return kInfos; }

Result<std::unique_ptr<Proposer>> make_proposer(std::string_view name, const Problem& problem,
                                                std::uint64_t seed) {
  std::vector<std::string_view> names;
  for (const Listed& listed : kListed) {
    names.push_back(listed.info.name);
    if (listed.info.name != name) continue;
    if (listed.info.mappings_only && !problem.is_mapping()) {
      return Error{
          Error::Code::kUnknown,
          fmt::format("the proposer `{}` searches for mappings, not for other texts", name),
          "name one that asks a model, or `marks`"};
    }
    if (listed.make_some != nullptr) return listed.make_some(problem, seed);
    return listed.make(problem, seed);
  }
  return Error{Error::Code::kUnknown, fmt::format("no proposer is named `{}`", name),
               fmt::format("there are {}", join_names(names))};
}

}  // namespace groma
