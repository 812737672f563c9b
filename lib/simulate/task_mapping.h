// TaskMapping: maps single tasks. It asks map_task, checks the answer, chooses memories and takes
// instances. It does not depend on time: Engine maps tasks in simulated time, Rehearsal without.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "groma/mapper.h"
#include "groma/validate.h"
#include "simulate/launch_plan.h"
#include "simulate/refusals.h"
#include "simulate/run_parts.h"
#include "simulate/task_run.h"

namespace groma::sim {

// Returns how a task of the launch (null: the top-level task) uses the data of a requirement, whose
// piece is `piece`. The task, its ancestors, the launch's number and the instance are left open.
Use use_of(const RunInput& input, std::uint32_t task, const app::Launch* launch,
           std::size_t position, const Piece* piece);

class TaskMapping {
 public:
  // `parts` must outlive it.
  explicit TaskMapping(RunParts& parts) : parts_(parts) {}

  // Begins with a task, which is held on a processor. It must live until the next begin(). Forgets
  // the copies of the task before.
  void begin(TaskRun& run);
  // Returns the task as its mapper sees it. Valid until the next begin().
  const TaskView& view();

  // The following functions return true on success. On failure they have ended the run.

  // Calls map_task of that mapper. Sets answer() to an answer that can be carried out. Instances
  // that were held before are released.
  bool ask(Mapper& mapper);
  // Sets the processor, variant, priority and profiling of the task as answer() says, for that one
  // of the processors in the answer.
  void take(const Processor& processor);
  // Does the same for one of the processors of a plan.
  void take(const TaskPlan& plan, std::int32_t processor);
  // Takes an instance for a requirement: the one that answer() names, or the first candidate that
  // exists or has room. Adds it to run.instances, and the necessary copies to fetches().
  bool map_requirement(std::uint32_t position);
  // Returns true if the plan is about a task with the same pieces, held on the same processor.
  bool fits(const TaskPlan& plan) const;
  // Does what ask(), take() and map_requirement() did when fill_plan() made the plan, which fits.
  // Asks the mapper only if there is no room. `processor` is one of the plan.
  bool repeat(const TaskPlan& plan, std::int32_t processor);
  // Keeps in `plan` how the task was mapped. Leaves the plan empty if the answer names an instance
  // by its number, or processors that use different memories.
  void fill_plan(TaskPlan& plan) const;

  // Returns the last answer of map_task.
  const MapTaskOutput& answer() const { return answer_; }
  // Returns the copies that the task which is being mapped needs.
  std::vector<Fetch>& fetches() { return fetches_; }

 private:
  bool shares_memories(std::span<const Processor> processors) const;
  void show_valid_instances();
  Use use_of(std::uint32_t position) const;
  bool hand_on(std::uint32_t position);
  bool use_instance(std::uint32_t position, InstanceNumber number, bool untracked);
  bool refuse(RefusedTask refused, RunStatus status);
  void refuse_point(std::uint32_t position);
  void rank(InstanceNumber target, std::vector<InstanceNumber>& sources);

  RunParts& parts_;
  TaskRun* run_ = nullptr;   // the task that is mapped
  std::int32_t asked_ = -1;  // the processor on which it was held at begin()
  bool has_view_ = false;    // view_ is that of the task
  TaskView view_;
  MapTaskOutput answer_;
  std::vector<Fetch> fetches_;
  // What map_requirement() did for each requirement, and the instances that it tried to get.
  std::vector<TaskPlan::Requirement> requirements_done_;
  std::vector<InstanceQuery> queries_;
  // Buffers, kept so that their memory is reused.
  std::vector<RequirementView> requirements_;  // of view_
  std::vector<std::span<const InstanceView>> valid_;
  std::vector<std::vector<InstanceView>> valid_kept_;
  std::vector<InstanceView> source_views_;
  std::vector<std::uint32_t> source_ranks_;
  std::vector<InstanceNumber> ranked_;
};

}  // namespace groma::sim
