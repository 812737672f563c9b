// Implements Outcome: ends runs early, and writes the errors of runs that exceed their limits.
#include "simulate/outcome.h"

#include <fmt/format.h>

#include <utility>

#include "base/one_diagnostic.h"
#include "simulate/spaces.h"

namespace groma::sim {

// The budget also counts as exceeded when the run needs more memory than allowed, so that lengthy
// work stops early in that case, too.
Outcome::Outcome(std::string_view application, Limits limits)
    : application_(application),
      limits_(std::move(limits)),
      budget_([this] { return limits_.stops() || limits_.bytes() > limits_.max_bytes; }) {}

// Returns false, and ends the run, if the budget is exceeded or if `more` bytes would exceed the
// memory limit.
bool Outcome::within_limits(std::string_view task, std::int64_t more) {
  if (budget_.exceeded()) {
    end_by_budget();
    return false;
  }
  if (more == 0 && ++calls_since_count_ < kBetweenCounts) return true;
  calls_since_count_ = 0;
  const std::int64_t bytes = limits_.bytes();
  if (bytes <= limits_.max_bytes && more <= limits_.max_bytes - bytes) return true;
  return fail_of_memory(task);
}

// Ends the run as too large, with the memory limit in the message. Always returns false.
bool Outcome::fail_of_memory(std::string_view task) {
  if (over_) return false;
  const std::string why = too_little_memory(limits_.max_bytes);
  Diagnostic diagnostic = diagnostic_without_source(DiagId::kCannotRun, task, why);
  diagnostic.help(std::string(kHelpWithMemory));
  over_ = true;
  result_.status = RunStatus::kTooLarge;
  result_.refusals = {{std::move(diagnostic), {}}};
  result_.raw = why;
  return false;
}

// Ends the run because its budget is exceeded: as too large if it needs too much memory, else as
// stopped.
void Outcome::end_by_budget() {
  if (over_) return;
  if (limits_.bytes() > limits_.max_bytes) {
    fail_of_memory(application_);
    return;
  }
  over_ = true;
  result_.status = RunStatus::kStopped;
}

// Ends the run with this status and these refusals. Only the first call of a run counts.
bool Outcome::refuse(RunStatus status, std::vector<Refusal> refusals, std::string raw) {
  if (over_) return false;
  // If the budget is exceeded, a mapper stops its work, and its incomplete answer is refused only
  // for that reason. So check the budget before these refusals are used.
  if (budget_.must_stop_now()) {
    end_by_budget();
    return false;
  }
  over_ = true;
  result_.status = status;
  result_.refusals = std::move(refusals);
  result_.raw = std::move(raw);
  return true;
}

// Ends the run with the diagnostic `cannot-run`. Always returns false.
bool Outcome::fail(std::string_view task, const std::string& why, std::string_view place,
                   RunStatus status) {
  Diagnostic diagnostic = diagnostic_without_source(DiagId::kCannotRun, task, why);
  if (!place.empty()) diagnostic.note(fmt::format("{} of the application", place));
  refuse(status, {{std::move(diagnostic), {}}}, why);
  return false;
}

void Outcome::resume() {
  over_ = false;
  result_.refusals.clear();
}

}  // namespace groma::sim
