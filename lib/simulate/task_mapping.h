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

// Returns how a task of the launch uses the data of requirement `position`, whose piece is `piece`.
// If `launch` is null, the task is the top-level task. The caller has to set the members `task`,
// `ancestors`, `launch` and `instance` of the result.
InstanceUse describe_data_use(const RunInput& input, std::uint32_t task, const app::Launch* launch,
                              std::size_t position, const Piece* piece);

class TaskMapping {
 public:
  // `parts` must outlive the object.
  explicit TaskMapping(RunParts& parts) : parts_(parts) {}

  // Begins to map a task, which is held on a processor. `run` must live until the next begin().
  // Forgets the copies of the task before.
  void begin(TaskRun& run);
  // Returns the task that is being mapped as its mapper sees it. The view is valid until the next
  // begin().
  const TaskView& view();

  // The following functions return true on success. If they fail, they end the run and return
  // false.

  // Calls map_task of the mapper. Afterwards answer() returns an answer that was checked and can be
  // carried out. Instances that were held before are released.
  bool ask(Mapper& mapper);
  // Sets the processor of the task, and sets its variant, priority and profiling as answer() says.
  // `processor` is one of the processors in the answer.
  void take(const Processor& processor);
  // Sets the processor of the task, and sets its variant, priority and profiling as the plan says.
  // `processor` is one of the processors of the plan.
  void take(const CachedTaskMapping& plan, std::int32_t processor);
  // Takes an instance for a requirement: the one that answer() names, or the first candidate that
  // exists or has room. Adds the instance to run.instances, and the necessary copies to fetches().
  bool map_requirement(std::uint32_t position);
  // Returns true if the plan was made for a task with the same pieces, held on the same processor,
  // as the task that is being mapped.
  bool is_plan_for_task(const CachedTaskMapping& plan) const;
  // Maps the task as the plan says, with the same effect as ask(), take() and map_requirement().
  // is_plan_for_task() must be true for the plan. Asks the mapper only if there is no room for an
  // instance. `processor` is one of the processors of the plan.
  bool map_by_plan(const CachedTaskMapping& plan, std::int32_t processor);
  // Stores in `plan` how the task was mapped. Leaves the plan empty if the answer names an instance
  // by its number, or processors that use different memories.
  void fill_plan(CachedTaskMapping& plan) const;

  // Returns the last answer of map_task.
  const MapTaskOutput& answer() const { return answer_; }
  // Returns the copies that are needed by the task that is being mapped.
  std::vector<NeededCopy>& fetches() { return fetches_; }

 private:
  bool shares_memories(std::span<const Processor> processors) const;
  void show_valid_instances();
  InstanceUse use_of(std::uint32_t position) const;
  bool map_virtually(std::uint32_t position);
  bool use_instance(std::uint32_t position, InstanceNumber number, bool untracked);
  bool refuse(RefusedTask refused, RunStatus status);
  void refuse_point(std::uint32_t position);
  void rank(InstanceNumber target, std::vector<InstanceNumber>& sources);

  RunParts& parts_;
  // The task that is being mapped.
  TaskRun* run_ = nullptr;
  // The number of the processor on which the task was held at begin().
  std::int32_t asked_ = -1;
  // True if `view_` is the view of the task that is being mapped.
  bool has_view_ = false;
  TaskView view_;
  MapTaskOutput answer_;
  std::vector<NeededCopy> fetches_;
  // What map_requirement() did: one entry for each requirement. The next list holds the queries for
  // all instances that it tried to get.
  std::vector<CachedTaskMapping::Requirement> requirements_done_;
  std::vector<InstanceQuery> queries_;
  // Buffers that are members only so that their memory is used again by later calls. The first one
  // holds the requirements to which `view_` refers.
  std::vector<RequirementView> requirements_;
  std::vector<std::span<const InstanceView>> valid_;
  std::vector<std::vector<InstanceView>> valid_kept_;
  std::vector<InstanceView> source_views_;
  std::vector<std::uint32_t> source_ranks_;
  std::vector<InstanceNumber> ranked_;
};

}  // namespace groma::sim
