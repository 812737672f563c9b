// Implements Findings: collects the errors and warnings of a rehearsal without duplicates.
#include "simulate/findings.h"

#include <algorithm>
#include <utility>

namespace groma::sim {

// Two findings are duplicates if they have the same diagnostic id, statement and message.
void Findings::add(std::vector<Refusal> refusals, std::string_view task, bool certain) {
  for (Refusal& refusal : refusals) {
    if (full()) break;
    Diagnostic& diagnostic = refusal.diagnostic;
    // Report a full memory once for each task, since the free bytes in the message always differ.
    const bool by_task = diagnostic.id == DiagId::kOutOfMemory && !task.empty();
    const std::string what = by_task ? std::string(task) : diagnostic.message;
    if (!known_.emplace(diagnostic.id, refusal.origin.statement, what).second) continue;
    if (!certain) {
      diagnostic.lower_to(Severity::kWarning);
      diagnostic.note("whether it comes to that, the order in which tasks run decides");
    }
    found_enough_ |= first_error_ && diagnostic.severity == Severity::kError;
    all_.push_back(std::move(refusal));
  }
  ended_ |= found_enough_;
}

// Warnings do not count, since only errors refuse a run.
bool Findings::has_error() const {
  return std::any_of(all_.begin(), all_.end(), [](const Refusal& each) {
    return each.diagnostic.severity == Severity::kError;
  });
}

// Keeps the first reason, since later reasons are often consequences of the first one.
void Findings::mark_incomplete(std::string why) {
  if (incomplete_.empty()) incomplete_ = std::move(why);
}

// Ends the rehearsal before it has examined the whole program, for the reason `why`.
void Findings::end(std::string why) {
  ended_ = true;
  mark_incomplete(std::move(why));
}

}  // namespace groma::sim
