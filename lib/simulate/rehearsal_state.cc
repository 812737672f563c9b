// Implements RehearsalState, which collects what a rehearsal finds.
#include "simulate/rehearsal_state.h"

#include <utility>

#include "simulate/refusals.h"

namespace groma::sim {

// If the rehearsal notes the instances that tasks may want, it also notes those that mappers make
// by their own calls.
RehearsalState::RehearsalState(const app::Data& data, const DataSpaces& spaces,
                               std::shared_ptr<const Machine> machine, const MapperFactory& make,
                               const RehearsalOptions& its_options, bool does_note_wants)
    : options(its_options),
      notes_wants(does_note_wants),
      parts(data, spaces, std::move(machine), make,
            {its_options.max_bytes, [this] { return parts.bytes() + wants.bytes(); },
             [this] { return stops(); }}),
      findings(its_options.first_error),
      wants(parts.input, parts.store),
      links(*parts.input.machine, parts.input.memories,
            its_options.estimate ? its_options.estimate->model : TimeModel{}) {
  if (options.estimate) {
    clock.emplace(parts, links,
                  options.estimate->costs.value_or(data.runtime.value_or(RuntimeCosts{})),
                  options.estimate->model);
  }
  if (!notes_wants) return;
  parts.instances.on_made = [this](const InstanceQuery& query, std::optional<InstanceNumber> made) {
    wants.note_instance_made_by_mapper(asking, query, made);
  };
}

// Returns true if the rehearsal has done more work than its limit, or if the caller stops it.
bool RehearsalState::stops() const {
  return parts.outcome.budget().spent() > options.max_work || (options.stop && options.stop());
}

// If the refusals came from a limit on memory or work, ends the rehearsal and marks it as
// incomplete.
void RehearsalState::collect_refusals(const app::Launch* launch, const TaskRun* run,
                                      bool is_certain) {
  const bool too_large =
      parts.outcome.over() && parts.outcome.result().status == RunStatus::kTooLarge;
  std::vector<Refusal> refusals = std::move(parts.outcome.result().refusals);
  parts.outcome.resume();
  if (too_large) return findings.end(too_little_memory(options.max_bytes));
  if (parts.outcome.budget().exceeded()) {
    return findings.end(parts.outcome.budget().spent() > options.max_work
                            ? "its tasks use more parts of its regions than are looked at"
                            : "it was stopped");
  }
  note_launch(parts.input.data, launch, run, refusals);
  findings.add(std::move(refusals), run == nullptr ? "" : parts.input.data.tasks[run->task].name,
               is_certain);
  certain = false;
  add_to_signature(findings.all().size());
}

// Adds warnings for memories that may be too small, and for copies that may have no route. Looking
// for them costs work, so the limit on the work may end this search.
void RehearsalState::warn_about_wants() {
  wants.find_small_memories(parts.outcome, findings);
  if (parts.outcome.over()) collect_refusals(nullptr, nullptr);
  auto refusal = wants.find_missing_route(parts.outcome, links);
  if (refusal) parts.outcome.refuse(RunStatus::kExecuteError, {std::move(*refusal)}, "");
  if (parts.outcome.over()) collect_refusals(nullptr, nullptr, false);
}

// Adds those reasons why a run may differ from the rehearsal that are known only at the end of the
// rehearsal.
RehearsalResult RehearsalState::finish() {
  const InstanceStore::UncertainFacts& doubts = parts.store.doubts();
  const bool unsure = !findings.has_error() && (!certain || doubts.guessed || doubts.keeps_eager);
  if (parts.instances.mappers_saw_instances() && unsure) {
    findings.mark_incomplete(
        "its mapper looks at instances, and which of them are there depends on the order in which "
        "tasks run");
  }
  // While a task waits for the tasks that it launched, it still counts as one of the tasks that its
  // `InstanceLimit` allows. The tasks that it waits for may not be allowed to start until it ends.
  if (limited_inside) {
    findings.mark_incomplete(
        "tasks that tasks launch have an `InstanceLimit`, so they may come to wait for each other");
  }
  const bool is_timed = clock && !findings.ended() && !findings.has_error();
  RehearsalResult result = findings.take();
  if (is_timed) result.rough_seconds = clock->measured_seconds();
  return result;
}

}  // namespace groma::sim
