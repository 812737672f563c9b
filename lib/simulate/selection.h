// TaskSelection: the tasks that wait until their mappers select them, and how they move between
// processors.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "groma/mapper_runtime.h"
#include "groma/simulate.h"
#include "simulate/agenda.h"
#include "simulate/mapper_events.h"
#include "simulate/mappers.h"
#include "simulate/outcome.h"
#include "simulate/run_input.h"
#include "simulate/stations.h"
#include "simulate/task_pool.h"
#include "simulate/views.h"

namespace groma::sim {

class TaskSelection {
 public:
  // The objects of a run that a TaskSelection works on. They must outlive it.
  struct RunServices {
    const RunInput& input;
    Outcome& outcome;
    Views& views;
    Mappers& mappers;
    // The functions that mappers may call, which are passed to the hooks.
    MapperRuntime& runtime;
    Agenda& agenda;
    MapperEvents& events;
    ProcessorStates& stations;
    const TaskPool& tasks;
    // Maps a task. Returns false if the run is over.
    std::function<bool(TaskRun&)> map;
  };
  // A task that moves to another node arrives there after `move_time`.
  TaskSelection(RunServices parts, RunTime move_time)
      : run_(std::move(parts)), move_time_(move_time) {}

  // Adds a task to those that wait at its processor until the mapper selects them.
  void add(TaskRun& run);
  // Calls select_tasks_to_map of the processor's mapper with all tasks that wait there. The answer
  // may map tasks now, relocate them, or defer them to an event. The run fails if mappers defer
  // tasks too often.
  void select(std::int32_t processor);
  // Lets the mapper of an idle processor, the thief, choose processors to steal from, and moves the
  // tasks that their mappers permit. If `thief` is -1, each processor steals in turn.
  void steal(std::int32_t thief);
  // Returns whether any waiting task may be stolen by another processor.
  bool has_stealable() const { return stealable_ > 0; }
  // Notes that a task was mapped. The count of tasks that mappers deferred begins again at 0, so
  // they may defer tasks again.
  void note_progress() { asked_in_vain_ = 0; }

 private:
  bool has_room_for_views(const std::vector<TaskRun*>& runs);
  std::vector<TaskView> views_of(std::span<TaskRun* const> runs,
                                 std::vector<std::vector<RequirementView>>& requirements);
  bool schedule_next_selection(std::int32_t processor, const SelectMappingOutput& answer,
                               const TaskView& first);
  void carry_out_selection(const std::vector<TaskRun*>& waiting, const SelectMappingOutput& answer);
  bool may_steal(ProcKind kind, const TaskRun& waits) const;
  std::optional<std::vector<Processor>> processors_without_stealable_task(ProcKind kind);
  void steal_for_thief(std::int32_t thief);
  void give_stolen_tasks(std::int32_t victim, std::int32_t thief);

  const RunServices run_;
  const RunTime move_time_;
  // How many waiting tasks mappers were asked about since a task was last mapped. A task counts
  // each time that a mapper is asked about it.
  std::int64_t asked_in_vain_ = 0;
  // The number of tasks that wait to be mapped and may be stolen.
  std::int64_t stealable_ = 0;
};

}  // namespace groma::sim
