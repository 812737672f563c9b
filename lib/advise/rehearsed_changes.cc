// ordered_by_rehearsal(): sorts changes of a mapping by rehearsals of the changed mappings.
#include <algorithm>
#include <array>
#include <utility>

#include "advise/changes.h"
#include "groma/inspect.h"

namespace groma::inspect {
namespace {

// Limit on the steps of one rehearsal (CheckOptions::max_steps).
constexpr std::int64_t kRehearsalSteps = std::int64_t{1} << 15;

// What a rehearsal tells about a run. kFailsAlike: it is refused for the same requirement as
// before.
enum class Outlook : std::uint8_t { kRuns, kMayRun, kFails, kFailsAlike };

// Returns true if both errors are about the same thing. The third argument of `out-of-memory` is a
// text with numbers, which may differ.
bool is_same_error(const Diagnostic& one, const Diagnostic& other) {
  const auto subject = [](const Diagnostic& diagnostic) {
    const std::vector<DiagArg>& args = diagnostic.args;
    return std::vector<DiagArg>(args.begin(),
                                args.begin() + std::min<std::ptrdiff_t>(2, std::ssize(args)));
  };
  return one.id == other.id && subject(one) == subject(other);
}

// Rehearses a changed mapping.
Outlook outlook_of(const ProposedChange& change, const Source& at, const GuidedRun& run,
                   const Refusal& refusal) {
  std::size_t applied = 0;
  Diagnostics diags(Source(at.name(), apply_fixes(at, {change.fix}, &applied)));
  const auto bound = bind(compile(diags.source(), diags), *run.machine, diags);
  if (!bound) return Outlook::kFails;
  diags.clear();
  CheckOptions options;
  options.max_steps = kRehearsalSteps;
  options.max_bytes = run.options.max_bytes;
  options.stop = run.options.stop;
  options.first_error = true;
  check_run(*bound, *run.workload, diags, options);
  for (const Diagnostic& each : diags.all()) {
    if (each.severity != Severity::kError) continue;
    return is_same_error(each, refusal.diagnostic) ? Outlook::kFailsAlike : Outlook::kFails;
  }
  return diags.all().empty() ? Outlook::kRuns : Outlook::kMayRun;
}

}  // namespace

std::vector<ProposedChange> ordered_by_rehearsal(std::vector<ProposedChange> changes,
                                                 const Source& at, const GuidedRun& run,
                                                 const Refusal& refusal) {
  std::array<std::vector<ProposedChange>, 4> by_outlook;
  for (ProposedChange& change : changes) {
    const auto outlook = static_cast<std::size_t>(outlook_of(change, at, run, refusal));
    by_outlook[outlook].push_back(std::move(change));
  }
  by_outlook[static_cast<std::size_t>(Outlook::kFailsAlike)].clear();
  std::vector<ProposedChange> ordered;
  for (std::vector<ProposedChange>& some : by_outlook) {
    for (ProposedChange& change : some) ordered.push_back(std::move(change));
  }
  return ordered;
}

}  // namespace groma::inspect
