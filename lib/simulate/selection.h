// Selection: the tasks that wait until their mappers select them, and how they move between
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

class Selection {
 public:
  // The parts of a run that a selection works on. They must outlive it.
  struct Parts {
    const RunInput& input;
    Outcome& outcome;
    Views& views;
    Mappers& mappers;
    MapperRuntime& runtime;  // passed to the hooks
    Agenda& agenda;
    MapperEvents& events;
    Stations& stations;
    const TaskPool& tasks;
    std::function<bool(TaskRun&)> map;  // maps a task; returns false if the run is over
  };
  // A task that moves to another node arrives after `move_time`.
  Selection(Parts parts, RunTime move_time) : run_(std::move(parts)), move_time_(move_time) {}

  // Adds a task to those that wait at its processor.
  void add(TaskRun& run);
  // Asks select_tasks_to_map of a processor about all tasks that wait there. The answer may map
  // tasks now, relocate them, or defer them to an event. The run fails if mappers defer tasks too
  // often.
  void select(std::int32_t processor);
  // Lets the mapper of an idle processor choose victims, and moves the tasks that they permit. -1
  // stands for all processors in turn.
  void steal(std::int32_t thief);
  // Returns whether a task that waits may be stolen.
  bool has_stealable() const { return stealable_ > 0; }
  // Notes that a task is mapped.
  void note_progress() { asked_in_vain_ = 0; }

 private:
  bool has_room_for_views(const std::vector<TaskRun*>& runs);
  std::vector<TaskView> views_of(std::span<TaskRun* const> runs,
                                 std::vector<std::vector<RequirementView>>& requirements);
  bool ask_again(std::int32_t processor, const SelectMappingOutput& answer, const TaskView& first);
  void carry_out(const std::vector<TaskRun*>& waiting, const SelectMappingOutput& answer);
  bool may_steal(ProcKind kind, const TaskRun& waits) const;
  std::optional<std::vector<Processor>> processors_without(ProcKind kind);
  void steal_one(std::int32_t thief);
  void give(std::int32_t victim, std::int32_t thief);

  const Parts run_;
  const RunTime move_time_;
  std::int64_t asked_in_vain_ = 0;  // tasks offered to mappers since the last mapped task
  std::int64_t stealable_ = 0;      // tasks that wait to be mapped and may be stolen
};

}  // namespace groma::sim
