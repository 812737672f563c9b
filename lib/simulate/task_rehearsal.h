// TaskRehearsal: maps one task of a rehearsal, on every processor where it may run, and collects
// what is refused. Rehearsal goes through the program and calls it.
#pragma once

#include <cstdint>
#include <vector>

#include "simulate/rehearsal_state.h"
#include "simulate/task_mapping.h"

namespace groma::sim {

class TaskRehearsal {
 public:
  // `state` must outlive the object.
  explicit TaskRehearsal(RehearsalState& state) : state_(state), mapping_(state.parts) {}

  // Maps a task. Asks mappers about the task on each processor in `may`, or only on its own if
  // `may` is empty. Takes instances on the first processor of the answer. Adds all processors of
  // the answers to `places`. Returns false, with nothing taken, if the task is refused.
  // `launcher` are the times of the launching task, for the clock; null for the top-level task.
  bool map(TaskRun& run, RoughClock::LaunchingBody* launcher, const std::vector<Processor>& may,
           std::vector<Processor>& places);
  // Notes that a mapped task may end at once, or at any time before the program next waits for all
  // tasks.
  void leave(TaskRun& run);
  // Gives the memory of the task's lists back to the arena.
  void release_lists(TaskRun& run);
  // Notes that all tasks that were mapped so far are over.
  void all_over() { parts_.store.note_all_tasks_over(); }
  // Returns the mapper that maps a task on this processor. Mappers of a program and default mappers
  // answer map_task from the kind and node of the processor alone. So all processors of one kind in
  // a node share one mapper object, which can then use its plans again.
  Mapper& mapper_of(const Processor& at) { return parts_.mappers.mapper_of({at.kind, at.node, 0}); }

 private:
  bool take_instances(TaskRun& run, RoughClock::LaunchingBody* launcher,
                      const std::vector<Processor>& may, std::vector<Processor>& places);
  void ask_on_others(TaskRun& run, const std::vector<Processor>& may,
                     std::vector<Processor>& places);
  bool take_instance(TaskRun& run, const TaskView& view, const std::vector<Processor>& places,
                     std::uint32_t position);
  void end_refused_task(TaskRun& run);
  void leave(const NeededCopy& fetch);
  void check_copy(const TaskRun& run, const NeededCopy& fetch);
  void check_formulas(const TaskRun& run);
  bool last_refusal_is_certain() const;
  bool last_refusal_has_id(DiagId id) const;

  RehearsalState& state_;
  RunParts& parts_ = state_.parts;
  TaskMapping mapping_;
  // A buffer for the sizes of the task's pieces.
  std::vector<app::PieceSize> sizes_;
};

}  // namespace groma::sim
