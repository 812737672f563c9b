// WinningDecisions compares decisions as `groma diff` does.
#include "propose/winning_decisions.h"

#include <algorithm>
#include <utility>

#include "groma/program.h"

namespace groma::tuning {
namespace {

// Returns all decisions of a mapping about the first input, or nullopt if the text is not valid.
std::optional<MappingDecisions> decisions_of(const SearchProblem& problem,
                                             const std::string& text) {
  Diagnostics diags(Source("mapping", text));
  const auto bound = bind(compile(diags.source(), diags), *problem.machine, diags);
  if (!bound) return std::nullopt;
  return MappingDecisions(*bound, problem.inputs.front());
}

// Returns true if both differences are about the same decision and have the same side B.
bool decide_alike(const MappingDifference& one, const MappingDifference& other) {
  return one.what == other.what && one.task == other.task && one.position == other.position &&
         one.b.decision == other.b.decision;
}

}  // namespace

std::optional<WinningDecisions> WinningDecisions::between(const SearchProblem& problem,
                                                          const std::string& before,
                                                          const std::string& best) {
  auto of_best = decisions_of(problem, best);
  const auto of_before = decisions_of(problem, before);
  if (!of_best || !of_before) return std::nullopt;
  std::vector<MappingDifference> undone = of_best->differences_from(*of_before);
  return WinningDecisions(problem, *std::move(of_best), std::move(undone));
}

bool WinningDecisions::are_undone_by(const std::string& text) const {
  const auto decisions = decisions_of(*problem_, text);
  if (!decisions) return false;
  const std::vector<MappingDifference> changed = best_.differences_from(*decisions);
  return std::any_of(changed.begin(), changed.end(), [&](const MappingDifference& each) {
    return std::any_of(undone_.begin(), undone_.end(),
                       [&](const MappingDifference& undone) { return decide_alike(each, undone); });
  });
}

}  // namespace groma::tuning
