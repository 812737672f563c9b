// WinningDecisions compares decisions as `groma diff` does.
#include "propose/winning_decisions.h"

#include <algorithm>

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

}  // namespace

std::set<WinningDecisions::Subject> WinningDecisions::subjects_of_differences(
    const MappingDecisions& a, const MappingDecisions& b) {
  std::set<Subject> subjects;
  for (MappingDifference& each : a.differences_from(b)) {
    subjects.emplace(each.what, std::move(each.task), each.position);
  }
  return subjects;
}

std::optional<WinningDecisions> WinningDecisions::between(const SearchProblem& problem,
                                                          const std::string& before,
                                                          const std::string& best) {
  auto of_best = decisions_of(problem, best);
  auto of_before = decisions_of(problem, before);
  if (!of_best || !of_before) return std::nullopt;
  return WinningDecisions(problem, *std::move(of_best), *std::move(of_before));
}

bool WinningDecisions::are_undone_by(const std::string& text) const {
  const auto decisions = decisions_of(*problem_, text);
  if (!decisions) return false;
  std::set<Subject> changed = subjects_of_differences(best_, *decisions);
  std::erase_if(changed, [this](const Subject& each) { return !won_.contains(each); });
  if (changed.empty()) return false;
  const std::set<Subject> from_before = subjects_of_differences(before_, *decisions);
  return std::any_of(changed.begin(), changed.end(),
                     [&](const Subject& each) { return !from_before.contains(each); });
}

}  // namespace groma::tuning
