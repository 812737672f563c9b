// Asks mappers which of their waiting tasks to map, and which tasks to steal.
#include "simulate/selection.h"

#include <algorithm>
#include <iterator>

#include "simulate/bytes.h"

namespace groma::sim {

// Puts the task into the list of tasks that wait at its processor. The mapper is not asked here:
// the caller calls select() for the processor later.
void TaskSelection::add(TaskRun& run) {
  run_.stations[run.number].unmapped.push_back(&run);
  stealable_ += run.stealable ? 1 : 0;
}

// Waiting tasks that the mapper does not name in its answer stay in the list of the processor.
void TaskSelection::select(std::int32_t processor) {
  std::vector<TaskRun*>& unmapped = run_.stations[processor].unmapped;
  if (unmapped.empty() || run_.outcome.over()) return;
  asked_in_vain_ += static_cast<std::int64_t>(unmapped.size());
  if (asked_in_vain_ > max_deferrals(run_.tasks.live())) {
    run_.outcome.fail(run_.input.data.tasks[unmapped.front()->task].name,
                      "select_tasks_to_map puts it off for ever");
    return;
  }
  if (!has_room_for_views(unmapped)) return;
  std::vector<TaskRun*> waiting;
  waiting.swap(unmapped);
  std::vector<std::vector<RequirementView>> requirements;
  const std::vector<TaskView> views = views_of(waiting, requirements);
  SelectMappingOutput answer;
  run_.mappers.mapper_for_scheduling(processor).select_tasks_to_map(run_.runtime, views, answer);
  if (!run_.mappers.end_run_if_refused(validate(answer, views, *run_.input.machine), views.front()))
    return;
  std::vector<bool> taken(waiting.size());
  for (std::uint32_t i : answer.map) taken[i] = true;
  for (const auto& [i, target] : answer.relocate) taken[i] = true;
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    if (!taken[i]) unmapped.push_back(waiting[i]);
  }
  if (!unmapped.empty() && !schedule_next_selection(processor, answer, views.front())) return;
  carry_out_selection(waiting, answer);
}

// Sees to it that the mapper of the processor is asked again about the tasks that still wait there:
// at once if it has taken some tasks, otherwise when the event that it has named is triggered. Ends
// the run if the mapper has named no event.
bool TaskSelection::schedule_next_selection(std::int32_t processor,
                                            const SelectMappingOutput& answer,
                                            const TaskView& first) {
  if (answer.map.empty() && answer.relocate.empty()) {
    switch (run_.events.defer(answer.deferral, processor)) {
      case MapperEvents::Deferral::kUnknown:
        return run_.outcome.fail(first.name, "select_tasks_to_map defers it to no event");
      case MapperEvents::Deferral::kDeferred:
        return true;
      case MapperEvents::Deferral::kTriggered:
        break;
    }
  }
  run_.agenda.add(run_.agenda.now(), Event::Kind::kSelect, processor);
  return true;
}

// Maps and relocates the tasks that the answer names by their index in `waiting`.
void TaskSelection::carry_out_selection(const std::vector<TaskRun*>& waiting,
                                        const SelectMappingOutput& answer) {
  const RunTime now = run_.agenda.now();
  for (std::uint32_t i : answer.map) {
    stealable_ -= waiting[i]->stealable ? 1 : 0;
    if (!run_.map(*waiting[i])) return;
  }
  bool may_move = false;
  for (const auto& [i, target] : answer.relocate) {
    TaskRun& run = *waiting[i];
    run.hold_on(run_.input.processors, target);
    run_.stations[run.number].unmapped.push_back(&run);
    run_.agenda.add(now, Event::Kind::kSelect, run.number);
    may_move |= run.stealable;
  }
  if (may_move) run_.agenda.add(now, Event::Kind::kSteal, -1);
}

// Returns true if the limits on memory and work allow making the views of all these tasks at once.
// Otherwise ends the run.
bool TaskSelection::has_room_for_views(const std::vector<TaskRun*>& runs) {
  std::int64_t bytes = 0;
  for (const TaskRun* run : runs) {
    const std::size_t requirements = run_.input.data.tasks[run->task].requirements.size();
    bytes += static_cast<std::int64_t>(sizeof(TaskView)) +
             heap_bytes(requirements * sizeof(RequirementView));
  }
  return runs.empty() ||
         (run_.outcome.spend(bytes / 64) &&
          run_.outcome.within_limits(run_.input.data.tasks[runs.front()->task].name, bytes));
}

// Returns the tasks as mappers see them. `requirements` holds the memory of their requirements.
std::vector<TaskView> TaskSelection::views_of(
    std::span<TaskRun* const> runs, std::vector<std::vector<RequirementView>>& requirements) {
  requirements.resize(runs.size());
  std::vector<TaskView> views;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    views.push_back(run_.views.view_of(*runs[i], requirements[i]));
  }
  return views;
}

// ---- Stealing

// Returns whether a processor of this kind may steal a waiting task.
bool TaskSelection::may_steal(ProcKind kind, const TaskRun& waits) const {
  return waits.stealable && run_.input.has_variant(waits.task, kind);
}

// Lets one processor steal, or each processor in the order of their numbers if `thief` is -1.
void TaskSelection::steal(std::int32_t thief) {
  if (thief >= 0) return steal_for_thief(thief);
  for (std::int32_t p = 0; p < run_.stations.size() && !run_.outcome.over(); ++p)
    steal_for_thief(p);
}

// Returns the processors from which a processor of kind `kind` can steal nothing, because no
// suitable stealable task waits there. Returns nullopt if a limit ended the run.
std::optional<std::vector<Processor>> TaskSelection::processors_without_stealable_task(
    ProcKind kind) {
  std::vector<Processor> without;
  for (std::int32_t p = 0; p < run_.stations.size(); ++p) {
    const std::vector<TaskRun*>& there = run_.stations[p].unmapped;
    if (!run_.outcome.spend(1 + static_cast<std::int64_t>(there.size()))) return std::nullopt;
    const bool has = std::any_of(there.begin(), there.end(),
                                 [&](const TaskRun* run) { return may_steal(kind, *run); });
    if (!has) without.push_back(run_.input.processors[p]);
  }
  return without;
}

// Lets one idle processor, the thief, steal tasks. The mapper of each victim is asked at most once.
// Processors at which nothing waits that the thief may steal are on the blacklist from the
// beginning.
void TaskSelection::steal_for_thief(std::int32_t thief) {
  if (stealable_ == 0 || !run_.stations[thief].idle()) return;
  const Processor& to = run_.input.processors[thief];
  auto blacklist = processors_without_stealable_task(to.kind);
  if (!blacklist) return;
  std::vector<Processor> victims;
  for (bool more = true;
       more && std::ssize(*blacklist) < run_.stations.size() && run_.stations[thief].idle();) {
    more = false;
    victims.clear();
    run_.mappers.mapper_for_scheduling(thief).select_steal_targets(run_.runtime, *blacklist,
                                                                   victims);
    if (!run_.mappers.end_run_if_refused(validate_steal_targets(victims, to, *run_.input.machine),
                                         TaskView{})) {
      return;
    }
    for (const Processor& victim : victims) {
      if (!run_.outcome.spend(static_cast<std::int64_t>(blacklist->size()))) return;
      if (std::find(blacklist->begin(), blacklist->end(), victim) != blacklist->end()) continue;
      blacklist->push_back(victim);
      give_stolen_tasks(run_.input.processors.number_of(victim), thief);
      if (run_.outcome.over()) return;
      more = true;
    }
  }
  select(thief);
}

// Asks permit_steal_request of the victim's mapper, and moves the permitted tasks to the thief. If
// the thief is on another node, the mapping of these tasks begins after `move_time_`.
void TaskSelection::give_stolen_tasks(std::int32_t victim, std::int32_t thief) {
  const Processor& to = run_.input.processors[thief];
  std::vector<TaskRun*> waiting;
  for (TaskRun* run : run_.stations[victim].unmapped) {
    if (may_steal(to.kind, *run)) waiting.push_back(run);
  }
  if (!has_room_for_views(waiting)) return;
  std::vector<std::vector<RequirementView>> requirements;
  const std::vector<TaskView> views = views_of(waiting, requirements);
  std::vector<std::uint32_t> stolen;
  run_.mappers.mapper_for_scheduling(victim).permit_steal_request(run_.runtime, to, views, stolen);
  if (!run_.mappers.end_run_if_refused(validate_stolen(stolen, views), TaskView{})) return;
  const bool far = run_.input.processors[victim].node != to.node;
  for (std::uint32_t i : stolen) {
    TaskRun& run = *waiting[i];
    run.hold_on(run_.input.processors, thief);
    if (far) run.times.mapping = run_.agenda.now() + move_time_;
    std::erase(run_.stations[victim].unmapped, &run);
    run_.stations[thief].unmapped.push_back(&run);
  }
}

}  // namespace groma::sim
